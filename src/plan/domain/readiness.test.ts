import fc from 'fast-check'
import { expect, test } from 'vitest'
import { acyclicTasks, aGraphTask } from '../../../test/support/graph-tasks.ts'
import { blockedTasks, rankedWork } from '../../../test/support/ranked-work.ts'
import { criticalPath, type GraphTask, readyTasks, taskStates } from './readiness.ts'

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

test('of equally long chains the one that comes first in the plan is critical', () => {
  const tasks = [
    aGraphTask('later', { phaseOrder: 10 }),
    aGraphTask('sooner', { phaseOrder: 2 }),
    aGraphTask('end', { dependsOn: ['later', 'sooner'] }),
  ]
  expect(ids(criticalPath(tasks))).toEqual(['sooner', 'end'])
})

test('a plan in which no unfinished task depends on another has no critical path', () => {
  expect(criticalPath([])).toEqual([])
  const done = aGraphTask('done', { status: 'done' })
  const tasks = [done, aGraphTask('next', { dependsOn: ['done'] }), aGraphTask('other')]
  expect(criticalPath([done])).toEqual([])
  expect(criticalPath(tasks)).toEqual([])
  expect(taskStates(tasks).map(({ critical }) => critical)).toEqual([false, false, false])
})

test('a cycle in the data is left out, and the rest is still answered', () => {
  const tasks = [
    aGraphTask('a', { dependsOn: ['b'] }),
    aGraphTask('b', { dependsOn: ['a'] }),
    aGraphTask('waits', { dependsOn: ['a'] }),
    aGraphTask('free'),
    aGraphTask('next', { dependsOn: ['free'] }),
  ]
  expect(ids(criticalPath(tasks))).toEqual(['free', 'next'])
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
      const longest = Math.max(0, ...tasks.map((task) => longestChainTo(task, tasks)))
      expect(path).toHaveLength(longest > 1 ? longest : 0)
    }),
  )
})

function longestChainTo(task: GraphTask, tasks: readonly GraphTask[]): number {
  if (task.status === 'done') return 0
  const before = tasks.filter(({ id }) => task.dependsOn.includes(id))
  return 1 + Math.max(0, ...before.map((dependency) => longestChainTo(dependency, tasks)))
}

const anyRole = { role: null }

test('a task is ready when it is to do, unclaimed, and everything it depends on is done', () => {
  const tasks = [
    aGraphTask('done', { status: 'done' }),
    aGraphTask('ready', { dependsOn: ['done'] }),
    aGraphTask('claimed', { claimed: true }),
    aGraphTask('running', { status: 'in_progress' }),
    aGraphTask('waiting', { dependsOn: ['done', 'running'] }),
  ]
  expect(ids(readyTasks(tasks))).toEqual(['ready'])
})

test('a blocked task says what it waits for, also when that is not in the list', () => {
  const tasks = [aGraphTask('a'), aGraphTask('b', { dependsOn: ['a', 'elsewhere', 'a'] })]
  expect(blockedTasks(tasks)).toEqual([{ task: tasks[1], waitsFor: ['a', 'elsewhere'] }])
  expect(ids(readyTasks(tasks))).toEqual(['a'])
})

test('the work that the longest chain waits for comes first, whatever the phases say', () => {
  const tasks = [
    aGraphTask('first phase', { phaseOrder: 1 }),
    aGraphTask('root', { phaseOrder: 9 }),
    aGraphTask('leaf', { phaseOrder: 9, dependsOn: ['root'] }),
  ]
  expect(rankedWork(tasks, anyRole)[0]?.id).toBe('root')
})

test('equal chains go by phase order, sort order and creation, and tasks without a phase come last', () => {
  const tasks = [
    aGraphTask('no phase'),
    aGraphTask('P10', { phaseOrder: 10 }),
    aGraphTask('P2 second', { phaseOrder: 2, sortOrder: 2 }),
    aGraphTask('P2 newer', { phaseOrder: 2, sortOrder: 1, createdOrder: 8 }),
    aGraphTask('P2 older', { phaseOrder: 2, sortOrder: 1, createdOrder: 7 }),
  ]
  expect(ids(rankedWork(tasks, anyRole))).toEqual(['P2 older', 'P2 newer', 'P2 second', 'P10', 'no phase'])
})

test('a role gets its own tasks and those of no role', () => {
  const tasks = [
    aGraphTask('code', { role: 'developer' }),
    aGraphTask('any'),
    aGraphTask('docs', { role: 'writer' }),
  ]
  expect(ids(rankedWork(tasks, { role: 'writer' }))).toEqual(['any', 'docs'])
  expect(rankedWork([aGraphTask('code', { role: 'developer' })], { role: 'writer' })).toEqual([])
})

test('no ready task has an open dependency, and every task to do is ready, blocked or claimed', () => {
  fc.assert(
    fc.property(acyclicTasks, (tasks) => {
      const open = new Set(tasks.filter(({ status }) => status !== 'done').map(({ id }) => id))
      const ready = readyTasks(tasks)
      const blocked = blockedTasks(tasks)
      expect(ready.flatMap(({ dependsOn }) => dependsOn).some((id) => open.has(id))).toBe(false)
      expect(
        blocked.every(({ waitsFor }) => waitsFor.length > 0 && waitsFor.every((id) => open.has(id))),
      ).toBe(true)
      const found = new Set([...ready, ...blocked.map(({ task }) => task)])
      expect(tasks.filter((task) => task.status === 'to_do' && !task.claimed && !found.has(task))).toEqual([])
    }),
  )
})

test('the next task is ready and fits the role, and there is one whenever something ready fits', () => {
  fc.assert(
    fc.property(acyclicTasks, fc.constantFrom(null, 'developer', 'reviewer'), (tasks, role) => {
      const fitting = readyTasks(tasks).filter(
        (task) => role === null || task.role === null || task.role === role,
      )
      const [next] = rankedWork(tasks, { role })
      expect(next === undefined).toBe(fitting.length === 0)
      if (next) expect(fitting).toContain(next)
    }),
  )
})

test('the first task of the critical path is the next task when it is free to take', () => {
  fc.assert(
    fc.property(acyclicTasks, (tasks) => {
      const head = criticalPath(tasks)[0]
      if (head && head.status === 'to_do' && !head.claimed) expect(rankedWork(tasks, anyRole)[0]).toBe(head)
    }),
  )
})

test('the order does not depend on the order of the list', () => {
  fc.assert(
    fc.property(acyclicTasks, (tasks) => {
      expect(rankedWork(tasks.toReversed(), anyRole)).toEqual(rankedWork(tasks, anyRole))
    }),
  )
})
