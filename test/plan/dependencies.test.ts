import { expect, test } from 'vitest'
import { wrongFields } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

async function openChain() {
  const project = await openPlan()
  const a = await project.plan('A')
  const b = await project.plan('B')
  const c = await project.plan('C')
  const add = (task: string, dependency: string) =>
    project.call('taskman_task_dep_add', { 'task-id': task, 'dep-id': dependency })
  const why = (task: string, dependency: string) =>
    project.refused('taskman_task_dep_add', { 'task-id': task, 'dep-id': dependency })
  return { ...project, a, b, c, add, why }
}

test('TM-069 a task waits for another one until that is done', async () => {
  const { a, b, add, edit, get } = await openChain()
  expect(await add(b, a)).toMatchObject({ id: b, depends_on: [a], blocked: true })
  await edit(a, { status: 'done' })
  expect(await get(b)).toMatchObject({ depends_on: [a], blocked: false })
})

test('TM-069 a dependency on what is done blocks nothing; dependencies stay in the order they were said', async () => {
  const { a, b, c, add, edit } = await openChain()
  await edit(b, { status: 'done' })
  expect(await add(c, b)).toMatchObject({ blocked: false })
  expect(await add(c, a)).toMatchObject({ depends_on: [b, a], blocked: true })
})

test('TM-070 a dependency is removed; one that is not there need not be, as in taskman', async () => {
  const { a, b, c, add, call, refused } = await openChain()
  await add(c, a)
  await add(c, b)
  expect(await call('taskman_task_dep_remove', { 'task-id': c, 'dep-id': a })).toMatchObject({
    depends_on: [b],
    blocked: true,
  })
  expect(await call('taskman_task_dep_remove', { task_id: c, depId: a })).toMatchObject({
    id: c,
    depends_on: [b],
  })
  expect(await refused('taskman_task_dep_remove', { 'task-id': 'xyz', 'dep-id': a })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'task_not_found',
    fix: { operation: 'taskman_task_list' },
  })
})

test('TM-033 TM-069 unknown, own, repeated and circular dependencies are refused, the circle is shown', async () => {
  const { a, b, c, add, why, refused, get } = await openChain()
  expect(await why(a, 'xyz')).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'task_not_found',
    fix: { operation: 'taskman_task_list' },
  })
  expect(await why('xyz', a)).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'task_not_found',
    fix: { operation: 'taskman_task_list' },
  })
  expect(await why(a, a)).toMatchObject({ code: 'CONFLICT', reason: 'dependency_on_itself' })
  await add(b, a)
  await add(c, b)
  expect(await why(b, a)).toMatchObject({ code: 'CONFLICT', reason: 'dependency_exists' })
  expect(await why(a, b)).toMatchObject({
    code: 'CONFLICT',
    reason: 'dependency_circular',
    fix: { operation: 'taskman_task_dep_remove' },
    details: { cycle: [a, b, a] },
  })
  expect(await why(a, c)).toMatchObject({
    code: 'CONFLICT',
    reason: 'dependency_circular',
    fix: { operation: 'taskman_task_dep_remove' },
    details: { cycle: [a, c, b, a] },
  })
  expect(await get(a)).toMatchObject({ depends_on: [] })
  expect(await refused('taskman_task_dep_add', { 'task-id': a })).toMatchObject(wrongFields('dep-id'))
  expect(await refused('taskman_task_dep_remove', { 'dep-id': a })).toMatchObject(wrongFields('task-id'))
})

test('a circle through tasks that are done is one too', async () => {
  const { a, b, add, edit, why } = await openChain()
  await add(b, a)
  await edit(a, { status: 'done' })
  await edit(b, { status: 'done' })
  expect(await why(a, b)).toMatchObject({
    code: 'CONFLICT',
    reason: 'dependency_circular',
    fix: { operation: 'taskman_task_dep_remove' },
    details: { cycle: [a, b, a] },
  })
})
