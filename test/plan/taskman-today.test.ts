import { expect, test } from 'vitest'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { openPlan } from './plan-project.ts'

test('notes are listed by their ids, oldest first; the task names them, and unknown ones are left out', async () => {
  const { call, plan, get, printed } = await openPlan()
  const id = await plan('Draw')
  const first = await call('taskman_task_note_add', { 'task-id': id, content: 'One' })
  const second = await call('taskman_task_note_add', { task_id: id, content: 'Two' })
  expect((await get(id)).note_ids).toEqual([second.id, first.id])
  const ids = `${second.id}, ${first.id},n-none,${first.id}`
  const { notes, total } = await call('taskman_task_note_list_by_ids', { ids })
  expect([notes.map(({ content }: { content: string }) => content), total]).toEqual([['One', 'Two'], 2])
  expect((await printed('taskman_task_note_list_by_ids', { ids, format: 'text' }))[0]).toContain(
    'content: One',
  )
  expect((await call('taskman_task_note_list', { 'task-id': id })).total).toBe(2)
})

test('the creator of a task is edited, and phases and milestones say since when they are', async () => {
  const { call, plan, edit, get } = await openPlan()
  const id = await plan('Draw', { creator: 'product-owner' })
  expect(await edit(id, { creator: 'project-manager' })).toMatchObject({ creator: 'project-manager' })
  expect(await get(id)).toMatchObject({ creator: 'project-manager', title: 'Draw' })
  await call('taskman_milestone_add', { id: 'M1', phase: 'P1' })
  const [phase] = (await call('taskman_phase_list')).phases
  const [milestone] = (await call('taskman_milestone_list')).milestones
  expect([phase, milestone].map(({ created_at }) => Number.isNaN(Date.parse(created_at)))).toEqual([
    false,
    false,
  ])
})

test('arguments as taskman calls them, and in any spelling, are taken', async () => {
  const { call, plan } = await openPlan()
  const first = await plan('First', { sort_order: 2, sortOrder: undefined })
  const second = await plan('Second')
  await call('taskman_task_dep_add', { taskId: second, dep_id: first })
  const listed = async (filter: string) =>
    (await call('taskman_task_list', { 'blocked-filter': filter })).tasks.map(({ id }: { id: string }) => id)
  expect([await listed('blocked'), await listed('unblocked')]).toEqual([[second], [first]])
})

test('the command line takes taskman’s flags', () => {
  const { json, run } = openCommandLine({ git: false })
  json('phase:add', '--id', 'P1', '--name', 'Design')
  const { id } = json('task:add', '--title', 'Draw', '--phase', 'P1')
  const note = json('task:note:add', id, '--content', 'Seen')
  expect(json('task:note:list-by-ids', '--ids', note.id)).toMatchObject([{ content: 'Seen' }])
  expect(json('task:list', '--blocked-filter', 'unblocked')).toHaveLength(1)
  expect(json('task:list', '--blocked-filter', 'blocked')).toHaveLength(0)
  expect(run('task:dep:remove', id, 't-none').code).toBe(0)
})
