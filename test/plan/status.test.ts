import { describe, expect, test } from 'vitest'
import { person } from '../support/project.ts'
import { agentNamed, openPlan } from './plan-project.ts'

const minutes = 60_000

describe('in_progress', () => {
  test('TM-068 editing a task to in_progress claims it for the editor', async () => {
    const { plan, edit, get } = await openPlan()
    const id = await plan('Draw')
    expect(await edit(id, { status: 'in_progress', agent_name: 'builder' })).toMatchObject({
      status: 'in_progress',
      claimed_by: 'builder',
    })
    expect(await get(id)).toMatchObject({ status: 'in_progress', claimed_by: 'builder' })
  })

  test('what another holds is not claimed, changed in status or dropped; other fields may change', async () => {
    const { plan, edit, refused, get } = await openPlan()
    const id = await plan('Draw')
    await edit(id, { status: 'in_progress' }, agentNamed('one'))
    const two = { actor: agentNamed('two') }
    for (const status of ['in_progress', 'to_do', 'done']) {
      expect(await refused('taskman_task_edit', { id, status }, two)).toMatchObject({
        code: 'CONFLICT',
        reason: 'claim_held_by_other',
        fix: { operation: 'taskman_task_next' },
      })
    }
    expect(await refused('task_drop', { id, reason: 'No' }, two)).toMatchObject({
      code: 'CONFLICT',
      reason: 'claim_held_by_other',
    })
    expect(await edit(id, { title: 'Sketch' }, agentNamed('two'))).toMatchObject({ claimed_by: 'one' })
    expect(await get(id)).toMatchObject({ title: 'Sketch', status: 'in_progress' })
  })

  test('repeated by its holder, it changes nothing', async () => {
    const { plan, edit } = await openPlan()
    const id = await plan('Draw')
    const claimed = await edit(id, { status: 'in_progress' })
    expect(await edit(id, { status: 'in_progress' })).toEqual(claimed)
  })

  test('it ends after thirty minutes; any call about the task renews it', async () => {
    const { plan, edit, get, wait, call } = await openPlan()
    const id = await plan('Draw')
    await edit(id, { status: 'in_progress' })
    wait(29 * minutes)
    await call('taskman_task_note_add', { id, content: 'Still drawing' })
    wait(29 * minutes)
    expect(await get(id)).toMatchObject({ status: 'in_progress' })
    wait(2 * minutes)
    expect(await get(id)).toMatchObject({ status: 'to_do', claimed_by: null })
  })

  test('a claim that ran out holds nothing, and its end is recorded once by the server’s own job', async () => {
    const { plan, edit, wait, call } = await openPlan()
    const id = await plan('Draw')
    await edit(id, { status: 'in_progress', agent_name: 'builder' })
    wait(31 * minutes)
    expect((await call('taskman_task_list')).tasks).toMatchObject([{ id, claimed_by: null }])
    expect((await call('taskman_task_note_list', { id })).total).toBe(0)
    await call('prune', {}, { actor: person })
    const { notes } = await call('taskman_task_note_list', { id })
    expect(notes).toMatchObject([{ content: expect.stringContaining('builder claimed it') }])
    await call('prune', {}, { actor: person })
    expect((await call('taskman_task_note_list', { id })).total).toBe(1)
  })
})

describe('to_do', () => {
  test('a person takes back what an agent only claimed; another agent does not', async () => {
    const { plan, edit, refused, call } = await openPlan()
    const id = await plan('Draw')
    const { claim } = await call('taskman_task_next', { claim: true })
    const two = { actor: agentNamed('two') }
    expect(await refused('taskman_task_edit', { id, status: 'to_do' }, two)).toMatchObject({
      code: 'CONFLICT',
      reason: 'claim_held_by_other',
    })
    expect(await edit(id, { status: 'to_do' }, person)).toMatchObject({ status: 'to_do', claimed_by: null })
    const stale = { planned_task_id: id, claim_token: claim.token }
    expect(await refused('start_task', stale)).toMatchObject({ code: 'CONFLICT', reason: 'claim_ended' })
  })

  test('it releases the claim', async () => {
    const { plan, edit, call } = await openPlan()
    const id = await plan('Draw')
    await edit(id, { status: 'in_progress' })
    expect(await edit(id, { status: 'to_do' })).toMatchObject({ status: 'to_do', claimed_by: null })
    expect((await call('taskman_task_next')).task).toMatchObject({ id })
  })

  test('what was done can be done again, and what depends on it waits again', async () => {
    const { plan, edit, get, call } = await openPlan()
    const first = await plan('First')
    const second = await plan('Second')
    await call('taskman_task_dep_add', { 'task-id': second, 'dep-id': first })
    await edit(first, { status: 'done' })
    expect(await get(second)).toMatchObject({ blocked: false })
    await edit(first, { status: 'to_do' })
    expect(await get(second)).toMatchObject({ blocked: true })
  })
})

describe('done', () => {
  test('without an attempt it is somebody’s word: claimed, not measured', async () => {
    const { plan, edit, call, get } = await openPlan()
    const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
    await call('taskman_phase_add', { id: 'M', name: 'Prepare', mission: mission_id })
    const id = await plan('Draw', { phase: 'M' })
    await edit(id, { status: 'done' })
    expect(await get(id)).toMatchObject({ status: 'done', claimed_by: null })
    expect(await call('show', { id })).toMatchObject({ status: 'SUCCESS', resolution: 'unmeasured' })
    const { tasks } = await call('get_context', { mission_id, include: ['tasks'] })
    expect(tasks).toMatchObject([{ id, status: 'SUCCESS', is_unmeasured: true }])
  })

  test('with an open attempt every change of status is refused, with the way on', async () => {
    const { plan, call, refused, get } = await openPlan()
    const id = await plan('Draw')
    await call('start_task', { planned_task_id: id })
    for (const status of ['done', 'to_do']) {
      expect(await refused('taskman_task_edit', { id, status })).toMatchObject({
        reason: 'attempt_open',
        fix: { operation: 'complete_task', input: { task_id: id } },
      })
    }
    expect(await refused('task_drop', { id, reason: 'No' })).toMatchObject({
      reason: 'attempt_open',
      fix: { operation: 'complete_task', input: { task_id: id, status: 'failed' } },
    })
    expect(await get(id)).toMatchObject({ status: 'in_progress' })
  })
})

describe('task_drop', () => {
  test('a dropped task is done, says why, and holds nobody back', async () => {
    const { plan, call, get } = await openPlan()
    const first = await plan('First')
    const second = await plan('Second')
    await call('taskman_task_dep_add', { 'task-id': second, 'dep-id': first })
    const dropped = await call('task_drop', { id: first, reason: 'Nobody needs it' })
    expect(dropped).toMatchObject({ status: 'done', resolution: 'dropped', claimed_by: null, blocked: false })
    expect(await get(first)).toMatchObject(dropped)
    expect(await call('taskman_task_list', { status: 'done' })).toMatchObject({ tasks: [], total: 0 })
    expect(await call('taskman_task_list', { dropped: true })).toMatchObject({
      tasks: [{ id: first }],
      total: 1,
    })
    expect(await get(second)).toMatchObject({ blocked: false })
    expect((await call('taskman_task_note_list', { id: first })).notes).toMatchObject([
      { content: 'Dropped: Nobody needs it' },
    ])
  })

  test('what waited for a person about the task is closed when a person drops it', async () => {
    const { plan, call } = await openPlan()
    const id = await plan('First')
    await call('start_task', { planned_task_id: id })
    const question = { type: 'unclear_requirement', description: 'Cookies?', requires_human_review: true }
    await call('log_issue', { task_id: id, ...question })
    await call('complete_task', { task_id: id, status: 'failed', outcome: { summary: 'Stuck.' } })
    const waiting = async () => (await call('inbox', {}, { actor: person })).items
    expect(await waiting()).toHaveLength(1)
    await call('task_drop', { id, reason: 'Not wanted' }, { actor: person })
    expect(await waiting()).toEqual([])
  })

  test('a person may drop what an agent only claimed; what is done is not dropped', async () => {
    const { plan, edit, call, refused } = await openPlan()
    const id = await plan('Draw')
    await edit(id, { status: 'in_progress' })
    expect(await call('task_drop', { id, reason: 'No' }, { actor: person })).toMatchObject({
      status: 'done',
      claimed_by: null,
    })
    expect(await refused('task_drop', { id, reason: 'No' })).toMatchObject({
      code: 'CONFLICT',
      reason: 'task_completed',
      fix: { operation: 'taskman_task_edit', input: { id, status: 'to_do' } },
    })
    expect(await edit(id, { status: 'to_do' })).toMatchObject({ status: 'to_do' })
  })
})
