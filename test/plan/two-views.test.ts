import { expect, test } from 'vitest'
import { openEmpty, openPlan } from './plan-project.ts'

test('one task in two views: planned with taskman, worked on with start_task, failed, tried again, done', async () => {
  const { call, write } = await openPlan({ git: true })
  const { id } = await call('taskman_task_add', { title: 'Log in', phase: 'P1', description: 'With a token' })
  const get = () => call('taskman_task_get', { id })
  const finish = (status: string) =>
    call('complete_task', { task_id: id, status, outcome: { summary: `It ended in ${status}` } })

  expect(await call('start_task', { planned_task_id: id, areas: ['src'] })).toMatchObject({ task_id: id })
  expect(await get()).toMatchObject({ status: 'in_progress', title: 'Log in', description: 'With a token' })
  await finish('failed')
  expect(await get()).toMatchObject({ status: 'to_do', claimed_by: null })
  expect((await call('taskman_task_next')).task).toMatchObject({ id })

  await call('start_task', { planned_task_id: id, areas: ['src'] })
  write('src/auth.ts', 'export const auth = 2\n')
  expect((await finish('success')).files_changed).toMatchObject({ modified: ['src/auth.ts'] })
  expect(await get()).toMatchObject({ status: 'done', claimed_by: null })
  expect((await call('taskman_task_list')).total).toBe(1)
  const { attempts } = await call('show', { id })
  expect(attempts.map(({ status }: { readonly status: string }) => status.toLowerCase()).sort()).toEqual([
    'failed',
    'success',
  ])
})

test('a task begun with start_task alone is of the plan too, and a partial success is done', async () => {
  const { call } = await openEmpty()
  const { task_id } = await call('start_task', { name: 'Mend the build' })
  const { tasks } = await call('taskman_task_list')
  expect(tasks).toMatchObject([
    { id: task_id, title: 'Mend the build', phase_id: null, status: 'in_progress' },
  ])
  await call('complete_task', { task_id, status: 'partial_success', outcome: { summary: 'Half' } })
  expect(await call('taskman_task_get', { id: task_id })).toMatchObject({ status: 'done' })
})
