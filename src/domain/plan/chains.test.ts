import fc from 'fast-check'
import { expect, test } from 'vitest'
import { acyclicTasks, aGraphTask } from '../../../test/support/graph-tasks.ts'
import { criticalPath } from './chains.ts'
import type { GraphTask } from './task-graph.ts'

const ids = (tasks: readonly GraphTask[]): readonly string[] => tasks.map(({ id }) => id)

test('the critical path is the longest chain of unfinished tasks, in working order', () => {
  const tasks = [
    aGraphTask('ship', { dependsOn: ['build', 'write'] }),
    aGraphTask('write'),
    aGraphTask('build', { dependsOn: ['design'] }),
    aGraphTask('design', { dependsOn: ['survey'] }),
    aGraphTask('survey', { status: 'done' }),
  ]
  expect(ids(criticalPath(tasks))).toEqual(['design', 'build', 'ship'])
})

test('an estimate counts in place of one', () => {
  const tasks = [
    aGraphTask('a'),
    aGraphTask('b', { dependsOn: ['a'] }),
    aGraphTask('long', { estimate: 5 }),
    aGraphTask('end', { dependsOn: ['b', 'long'] }),
  ]
  expect(ids(criticalPath(tasks))).toEqual(['long', 'end'])
})

test('of equally long chains the one that comes first in the plan is critical', () => {
  const tasks = [aGraphTask('later', { phaseOrder: 10 }), aGraphTask('sooner', { phaseOrder: 2 })]
  expect(ids(criticalPath(tasks))).toEqual(['sooner'])
})

test('a plan with nothing left to do has no critical path', () => {
  expect(criticalPath([])).toEqual([])
  expect(criticalPath([aGraphTask('a', { status: 'done' })])).toEqual([])
})

test('a cycle in the data is left out, and the rest is still answered', () => {
  const tasks = [
    aGraphTask('a', { dependsOn: ['b'] }),
    aGraphTask('b', { dependsOn: ['a'] }),
    aGraphTask('waits', { dependsOn: ['a'] }),
    aGraphTask('free'),
  ]
  expect(ids(criticalPath(tasks))).toEqual(['free'])
})

test('a chain of 100,000 tasks is followed to its end', () => {
  const size = 100_000
  const tasks = Array.from({ length: size }, (_, place) =>
    aGraphTask(`t${place}`, { dependsOn: place === 0 ? [] : [`t${place - 1}`] }),
  )
  const path = criticalPath(tasks.reverse())
  expect([path.length, path[0]?.id, path.at(-1)?.id]).toEqual([size, 't0', 't99999'])
})

test('no chain of unfinished tasks weighs more than the critical path', () => {
  fc.assert(
    fc.property(acyclicTasks, (tasks) => {
      const path = criticalPath(tasks)
      expect(path.every(({ status }) => status !== 'done')).toBe(true)
      expect(path.slice(1).every((task, place) => task.dependsOn.includes(path[place]?.id ?? ''))).toBe(true)
      expect(weight(path)).toBe(Math.max(0, ...tasks.map((task) => heaviestUpTo(task, tasks))))
    }),
  )
})

const weight = (path: readonly GraphTask[]): number =>
  path.reduce((sum, { estimate }) => sum + (estimate ?? 1), 0)

function heaviestUpTo(task: GraphTask, tasks: readonly GraphTask[]): number {
  if (task.status === 'done') return 0
  const before = tasks.filter(({ id }) => task.dependsOn.includes(id))
  return (task.estimate ?? 1) + Math.max(0, ...before.map((dependency) => heaviestUpTo(dependency, tasks)))
}
