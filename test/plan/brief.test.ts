import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test } from 'vitest'
import { wrongFields } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

const id = expect.stringMatching(/^t-/)

describe('brief: true answers what the next step needs', () => {
  test('of a task: whether it can be begun, and whether it waits', async () => {
    const { call, plan } = await openPlan()
    const first = await plan('First')
    const added = await call('taskman_task_add', { title: 'Second', phase: 'P1', brief: true })
    expect(added).toEqual({ id, ready: true, blocked: false })
    const pair = { 'task-id': added.id, 'dep-id': first, brief: true }
    expect(await call('taskman_task_dep_add', pair)).toEqual({ id: added.id, ready: false, blocked: true })
    expect(await call('taskman_task_dep_remove', pair)).toEqual({
      id: added.id,
      ready: true,
      blocked: false,
    })
    const edited = await call('taskman_task_edit', { id: first, status: 'in_progress', brief: true })
    expect(edited).toEqual({ id: first, ready: false, blocked: false })
    const done = await call('taskman_task_edit', { id: first, status: 'done', brief: true })
    expect(done).toEqual({ id: first, ready: false, blocked: false })
  })

  test('of a phase or a milestone: its id', async () => {
    const { call } = await openPlan()
    expect(await call('taskman_phase_add', { id: 'P2', name: 'Build', brief: true })).toEqual({ id: 'P2' })
    expect(await call('taskman_phase_edit', { id: 'P2', name: 'Make', brief: true })).toEqual({ id: 'P2' })
    const milestone = { id: 'M1', phase: 'P2', brief: true }
    expect(await call('taskman_milestone_add', milestone)).toEqual({ id: 'M1' })
    expect(await call('taskman_milestone_edit', { id: 'M1', name: 'Beta', brief: true })).toEqual({
      id: 'M1',
    })
  })

  test('costs at most 60 tokens, however long the task is', async () => {
    const { printed } = await openPlan()
    const description = 'A long description of what is to be done. '.repeat(200)
    const input = { title: 'Long', phase: 'P1', description, brief: true }
    const [text = ''] = await printed('taskman_task_add', input)
    expect(countTokens(text)).toBeLessThanOrEqual(60)
  })

  test('an edit that names nothing to change prints nothing, brief or not', async () => {
    const { plan, printed } = await openPlan()
    expect(await printed('taskman_task_edit', { id: await plan('First'), brief: true })).toEqual([''])
  })

  test('without it the answer is whole', async () => {
    const { call } = await openPlan()
    const added = await call('taskman_task_add', { title: 'Second', phase: 'P1', brief: false })
    expect(added).toMatchObject({ title: 'Second', phase_id: 'P1', status: 'to_do' })
  })
})

describe('a field is taken as other programs spell it', () => {
  test.each(['id', 'task_id', 'task-id', 'taskId', 'TaskID'])('the task as %s', async (field) => {
    const { call, plan } = await openPlan()
    const task = await plan('First')
    expect(await call('taskman_task_get', { [field]: task })).toMatchObject({ id: task })
    expect(await call('taskman_task_edit', { [field]: task, title: 'New' })).toMatchObject({ title: 'New' })
    const other = await plan('Other')
    expect(await call('taskman_task_dep_add', { [field]: other, dep_id: task })).toMatchObject({
      id: other,
      depends_on: [task],
    })
    const { task_id } = await call('start_task', { [field]: task })
    expect(task_id).toBe(task)
    await call('log_milestone', { [field]: task, message: 'Half way' })
    const outcome = { summary: 'Done.' }
    expect(await call('complete_task', { [field]: task, status: 'success', outcome })).toMatchObject({
      task_id: task,
    })
  })

  test('said twice in the same way is said once; in two ways it is refused', async () => {
    const { call, refused, plan } = await openPlan()
    const task = await plan('First')
    expect(await call('taskman_task_get', { id: task, task_id: task })).toMatchObject({ id: task })
    expect(await refused('taskman_task_get', { id: task, task_id: 't-other' })).toMatchObject(
      wrongFields('task_id'),
    )
  })

  test.each(['mission', 'mission_id', 'workflow_id', 'workflowId'])('the mission as %s', async (field) => {
    const { call } = await openPlan()
    const { mission_id } = await call('start_mission', { name: 'm', objective: 'o' })
    const owner = { [field]: mission_id }
    await call('taskman_phase_add', { id: 'of-mission', name: 'Its own', ...owner })
    const { phases } = await call('taskman_phase_list', owner)
    expect(phases.map(({ id }: { id: string }) => id)).toEqual(['of-mission'])
    await call('taskman_task_add', { name: 'Named as tracking names it', phase_id: 'of-mission' })
    expect((await call('taskman_task_list', owner)).total).toBe(1)
    expect((await call('taskman_task_next', owner)).task).toMatchObject({ phase_id: 'of-mission' })
    expect(await call('get_context', { ...owner, include: ['tasks'] })).toHaveProperty('tasks')
    expect(await call('start_task', { ...owner, title: 'Now' })).toHaveProperty('task_id')
  })
})
