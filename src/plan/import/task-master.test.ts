import { expect, test } from 'vitest'
import type { PlanDocument } from '../domain/document.ts'
import { readTaskMaster } from './task-master.ts'

function acceptedTaskMaster(file: unknown): {
  readonly document: PlanDocument
  readonly notices: readonly string[]
} {
  const result = readTaskMaster(JSON.stringify(file))
  if (!result.accepted) throw new Error(result.problems.join('\n'))
  return result
}

const tasks = [
  { id: 1, title: 'Init', status: 'done', dependencies: [], subtasks: [] },
  {
    id: '2',
    title: 'Log in',
    description: 'OAuth.',
    details: 'Use the library.\nKeep the token.',
    testStrategy: 'Log in twice.',
    priority: 'high',
    status: 'in-progress',
    dependencies: [1],
    complexityScore: 7,
    subtasks: [
      { id: 1, title: 'Button', status: 'review', dependencies: [], parentTaskId: 2 },
      { id: 2, title: 'Callback', status: 'pending', dependencies: [1, '1', '2.1'] },
    ],
  },
  {
    id: 3,
    title: 'Ship',
    status: 'deferred',
    dependencies: ['2.2', 1],
    updatedAt: '2026-01-02T03:04:05.678Z',
  },
  { id: 4, title: 'Never', status: 'cancelled', dependencies: [9] },
  { id: 5, title: 'Odd', status: 'sleeping' },
]

test('tasks of the tagged format become tasks of a phase, with subtasks and dependencies', () => {
  const { document } = acceptedTaskMaster({ master: { tasks, metadata: { description: 'x' } } })
  expect(document.phases).toMatchObject([{ key: 'master', status: 'in_progress' }])
  expect(
    document.tasks.map(({ key, parent, status, resolution, dependsOn }) => [
      key,
      parent,
      status,
      resolution,
      dependsOn,
    ]),
  ).toEqual([
    ['1', null, 'done', null, []],
    ['2', null, 'in_progress', null, ['1']],
    ['2.1', '2', 'in_progress', null, []],
    ['2.2', '2', 'to_do', null, ['2.1']],
    ['3', null, 'to_do', null, ['2.2', '1']],
    ['4', null, 'done', 'dropped', []],
    ['5', null, 'to_do', null, []],
  ])
  expect(document.tasks[4]?.updatedAt).toBe(Date.parse('2026-01-02T03:04:05.678Z'))
})

test('details, test strategy and priority are kept in the description, and a status that says more than ours', () => {
  const { document } = acceptedTaskMaster({ tasks })
  expect(document.tasks[1]?.description).toBe(
    'OAuth.\n\n## Details\n\nUse the library.\nKeep the token.\n\nTest strategy: Log in twice.\nPriority: high',
  )
  expect(document.tasks[2]?.description).toBe('Status in Task Master: review')
})

test('the old format reads as the tag master', () => {
  expect(acceptedTaskMaster({ tasks, meta: { projectName: 'x' } }).document).toEqual(
    acceptedTaskMaster({ master: { tasks } }).document,
  )
})

test('tags become phases, and their numbers do not mix', () => {
  const one = { id: 1, title: 'One', dependencies: [] }
  const two = { id: 2, title: 'Two', dependencies: [1] }
  const { document } = acceptedTaskMaster({ master: { tasks: [one] }, 'feature-x': { tasks: [one, two] } })
  expect(
    document.tasks.map(({ key, phase, dependsOn, foreignId }) => [key, phase, dependsOn, foreignId]),
  ).toEqual([
    ['1', 'master', [], '1'],
    ['feature-x:1', 'feature-x', [], 'feature-x:1'],
    ['feature-x:2', 'feature-x', ['feature-x:1'], 'feature-x:2'],
  ])
})

test('what cannot be kept is reported with its place', () => {
  expect(acceptedTaskMaster({ master: { tasks } }).notices).toEqual([
    'master.tasks[3]: left out: the dependency on 9, which is not in the file.',
    'master.tasks[4]: the status "sleeping" is unknown; the task counts as to do.',
    'master.tasks[1]: left out: the field "complexityScore", which Waymark does not keep.',
  ])
})

test('a circle, a missing title, and another file are refused', () => {
  const circle = [
    { id: 1, title: 'a', dependencies: [2] },
    { id: 2, title: 'b', dependencies: [1] },
    { id: 2, title: '' },
    { id: 3 },
  ]
  expect(readTaskMaster(JSON.stringify({ tasks: circle }))).toMatchObject({
    accepted: false,
    problems: [
      'file.tasks[3]: "title" is missing.',
      'file.tasks[2]: the task "2-2" has an empty title.',
      'file.tasks[0]: tasks depend on each other in a circle: 1 → 2 → 1.',
    ],
  })
  expect(readTaskMaster('{"name":"x"}')).toMatchObject({ accepted: false })
  expect(readTaskMaster('[1]')).toMatchObject({ accepted: false })
  expect(readTaskMaster('{')).toMatchObject({ accepted: false })
})

test('of a number given twice the first keeps it, and the others say what they became', () => {
  const twice = { id: 7, title: 'Sub', dependencies: [] }
  const { document, notices } = acceptedTaskMaster({
    tasks: [{ id: 1, title: 'One', subtasks: [twice, twice] }],
  })
  expect(document.tasks.map(({ key, parent, foreignId }) => [key, parent, foreignId])).toEqual([
    ['1', null, '1'],
    ['1.7', '1', '1.7'],
    ['1.7-2', '1', '1.7-2'],
  ])
  expect(notices).toEqual([
    'file.tasks[0].subtasks[1]: the id 1.7 belongs to another task already (file.tasks[0].subtasks[0]), so this one became 1.7-2.',
  ])
})
