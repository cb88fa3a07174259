import fc from 'fast-check'
import { expect, test } from 'vitest'
import { acyclicTasks, aGraphTask, aPlacedTask } from '../../../test/support/graph-tasks.ts'
import { type OutlineTask, outline, type TaskInPlan } from './outline.ts'
import { type GraphTask, taskStates } from './readiness.ts'

const phases = [
  { id: 'P1', name: 'Design', missionId: null },
  { id: 'P2', name: 'Build', missionId: null },
]
const milestones = [{ id: 'M1', phaseId: 'P2', name: 'Alpha', reached: false }]

const ids = (tasks: readonly OutlineTask[]): readonly string[] => tasks.map(({ id }) => id)

test('tasks stand under their milestone, else under their phase, else at the end', () => {
  const tasks = [
    aPlacedTask('free'),
    aPlacedTask('alpha', { phaseId: 'P2', milestoneId: 'M1' }),
    aPlacedTask('build', { phaseId: 'P2' }),
    aPlacedTask('draw', { phaseId: 'P1', status: 'done' }),
  ]
  const outlined = outline({ phases, milestones, tasks })
  expect(outlined.map(({ id, done, total }) => [id, done, total])).toEqual([
    ['P1', 1, 1],
    ['P2', 0, 2],
    [null, 0, 1],
  ])
  expect(ids(outlined[1]?.tasks ?? [])).toEqual(['build'])
  expect(ids(outlined[1]?.milestones[0]?.tasks ?? [])).toEqual(['alpha'])
})

test('subtasks stand below their parent, in the order of the plan', () => {
  const tasks = [
    aPlacedTask('second', { parentId: 'top', sortOrder: 2 }),
    aPlacedTask('deep', { parentId: 'second' }),
    aPlacedTask('first', { parentId: 'top', sortOrder: 1 }),
    aPlacedTask('top'),
  ]
  const [top] = outline({ phases: [], milestones: [], tasks })[0]?.tasks ?? []
  expect(ids(top?.subtasks ?? [])).toEqual(['first', 'second'])
  expect(ids(top?.subtasks[1]?.subtasks ?? [])).toEqual(['deep'])
})

test('a subtask in another phase than its parent stands there', () => {
  const tasks = [
    aPlacedTask('top', { phaseId: 'P1' }),
    aPlacedTask('sub', { phaseId: 'P2', parentId: 'top' }),
  ]
  expect(outline({ phases, milestones, tasks }).map((phase) => ids(phase.tasks))).toEqual([['top'], ['sub']])
})

test('a task shows whether it is done, running, ready or blocked, by what, and whether it is critical', () => {
  const tasks = [
    aGraphTask('done', { status: 'done' }),
    aGraphTask('claimed', { claimed: true }),
    aGraphTask('ready', { dependsOn: ['done'] }),
    aGraphTask('blocked', { dependsOn: ['ready'] }),
  ]
  expect(taskStates(tasks)).toEqual([
    { mark: 'done', critical: false, waitsFor: [] },
    { mark: 'in_progress', critical: false, waitsFor: [] },
    { mark: 'ready', critical: true, waitsFor: [] },
    { mark: 'blocked', critical: true, waitsFor: ['ready'] },
  ])
})

test('every task of a plan is shown exactly once', () => {
  const homes = fc.array(
    fc.record({ phase: fc.constantFrom(null, 'P1', 'P2'), parent: fc.nat({ max: 11 }) }),
    {
      minLength: 12,
      maxLength: 12,
    },
  )
  fc.assert(
    fc.property(acyclicTasks, homes, (tasks, places) => {
      const plan = tasks.map((task, place) => addToHome(task, tasks.slice(0, place), places[place]))
      const outlinedIds = outline({ phases, milestones, tasks: plan }).flatMap((phase) =>
        phase.tasks.flatMap(everyId),
      )
      expect(outlinedIds.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
    }),
  )
})

function addToHome(
  task: GraphTask,
  before: readonly GraphTask[],
  home: { readonly phase: string | null; readonly parent: number } | undefined,
): TaskInPlan {
  const parentId = before[home?.parent ?? 0]?.id ?? null
  return {
    ...task,
    title: task.id,
    missionId: null,
    phaseId: home?.phase ?? null,
    milestoneId: null,
    parentId,
  }
}

function everyId(task: OutlineTask): readonly string[] {
  return [task.id, ...task.subtasks.flatMap(everyId)]
}
