import { describe, expect, test } from 'vitest'
import { openProject } from '../support/project.ts'
import { agentNamed, openPlan } from './plan-project.ts'

const minutes = 60_000

describe('looking', () => {
  test('nothing ready is said, and not an error', async () => {
    const { call, printed } = await openPlan()
    expect(await call('taskman_task_next')).toMatchObject({
      task: null,
      claim: null,
      message: expect.stringContaining('No task is ready'),
    })
    expect(await printed('taskman_task_next', { format: 'text' })).toEqual([
      'No task is ready. No task is planned in an open mission or in the project’s own plan.',
    ])
  })

  test('waits until a task is ready and claims it, and ends without one in time', async () => {
    const { plan, call, edit } = await openPlan()
    const first = await plan('first')
    const second = await plan('second')
    await call('taskman_task_dep_add', { 'task-id': second, 'dep-id': first })
    await edit(first, { status: 'in_progress' })
    const pending = call('taskman_task_next', { claim: true, wait_seconds: 30 })
    await edit(first, { status: 'done' })
    expect(await pending).toMatchObject({ task: { id: second }, claim: { token: expect.any(String) } })
    expect(await call('taskman_task_next', { claim: true, wait_seconds: 1 })).toMatchObject({ task: null })
  })

  test('what the longest chain waits for comes first, then the order of the list', async () => {
    const { plan, call, edit } = await openPlan()
    const short = await plan('short')
    const base = await plan('base')
    const middle = await plan('middle')
    const end = await plan('end')
    await call('taskman_task_dep_add', { 'task-id': middle, 'dep-id': base })
    await call('taskman_task_dep_add', { 'task-id': end, 'dep-id': middle })
    const next = async () => (await call('taskman_task_next')).task?.id
    expect(await next()).toBe(base)
    await edit(base, { status: 'done' })
    expect(await next()).toBe(middle)
    await edit(middle, { status: 'done' })
    expect(await next()).toBe(short)
  })

  test('work sent back comes before the longest chain, a task that failed after it', async () => {
    const { plan, call, edit } = await openPlan({ git: true })
    await call('taskman_phase_add', { id: 'P7', name: 'Finish' })
    const failed = await plan('failed', { phase: 'finish' })
    const behind = await plan('behind')
    await call('taskman_task_dep_add', { 'task-id': behind, 'dep-id': failed })
    const fresh = await plan('fresh')
    const sentBack = await plan('sent back')
    const next = async () => (await call('taskman_task_next')).task?.id
    const end = async (id: string, status: string) => {
      await call('start_task', { planned_task_id: id })
      await call('complete_task', { task_id: id, status, outcome: { summary: 'Done.' } })
    }
    await end(failed, 'failed')
    expect(await next()).toBe(fresh)
    await end(sentBack, 'success')
    await edit(sentBack, { status: 'to_do' })
    expect(await next()).toBe(sentBack)
    for (const id of [sentBack, fresh]) await edit(id, { status: 'done' })
    expect(await next()).toBe(failed)
    await call('start_task', { planned_task_id: failed })
    expect((await call('taskman_task_next')).message).toBe(
      `No task is ready. Of 2 tasks, 1 waits for ${failed} (in progress), you hold ${failed}. Go on with the task that you hold, and end it: complete_task { task_id: "${failed}" }`,
    )
  })

  test('names the start of the task that the caller holds', async () => {
    const { plan, call } = await openPlan()
    const held = await plan('held')
    const claim = async () => (await call('taskman_task_next', { claim: true })).message
    await claim()
    expect(await claim()).toBe(
      `No task is ready. Of 1 task, you hold ${held}. Start the task that you hold: start_task { planned_task_id: "${held}" }`,
    )
  })

  test('for a role: its tasks, and those that are for anybody', async () => {
    const { plan, call, edit, refused } = await openPlan()
    const build = await plan('build', { role: 'developer' })
    const anybody = await plan('anybody')
    const next = async (role: string) => (await call('taskman_task_next', { role })).task?.id
    expect(await next('developer')).toBe(build)
    expect(await next('qa-engineer')).toBe(anybody)
    await edit(anybody, { status: 'done' })
    expect(await next('qa-engineer')).toBeUndefined()
    expect(await refused('taskman_task_next', { role: 'plumber' })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'role_unknown',
    })
  })

  test('looking changes nothing', async () => {
    const { plan, call, get } = await openPlan()
    const id = await plan('Draw')
    const before = await get(id)
    expect((await call('taskman_task_next')).task).toEqual(before)
    expect(await get(id)).toEqual(before)
  })
})

describe('claiming', () => {
  test('it answers a token, whose claim it is and until when; the task is in progress', async () => {
    const { plan, call, get, context } = await openPlan()
    const id = await plan('Draw')
    const { task, claim } = await call('taskman_task_next', { claim: true, agent_name: 'builder' })
    expect(task).toMatchObject({ id, status: 'in_progress', claimed_by: 'builder' })
    expect(claim).toEqual({ token: expect.any(String), agent: 'builder', expires_at: expect.any(String) })
    const left = Date.parse(claim.expires_at) - context.clock.now()
    expect(left).toBeGreaterThan(29 * minutes)
    expect(await get(id)).toEqual(task)
  })

  test('a repeat with the same key answers the same claim', async () => {
    const { plan, call } = await openPlan()
    await plan('one')
    await plan('two')
    const claim = () => call('taskman_task_next', { claim: true }, { idempotencyKey: 'k' })
    const first = await claim()
    expect(await claim()).toEqual(first)
    expect((await call('taskman_task_list', { status: 'in_progress' })).total).toBe(1)
  })

  test('each task goes to one claimant', async () => {
    const { plan, call } = await openPlan()
    const ids = [await plan('one'), await plan('two')]
    const claims = await Promise.all(
      ['a', 'b', 'c'].map((agent_name) => call('taskman_task_next', { claim: true, agent_name })),
    )
    const given = claims.map(({ task }) => task?.id ?? null)
    expect(given).toHaveLength(3)
    expect(new Set(given)).toEqual(new Set([...ids, null]))
  })

  test('a claim that ran out is the next one’s, with a note; the token of the first begins nothing', async () => {
    const { plan, call, wait, refused, get } = await openPlan()
    const id = await plan('Draw')
    const first = await call('taskman_task_next', { claim: true, agent_name: 'lost' })
    wait(31 * minutes)
    const second = await call('taskman_task_next', { claim: true, agent_name: 'quick' })
    const third = await call('taskman_task_next', { claim: true, agent_name: 'late' })
    expect(second.task).toMatchObject({ id, claimed_by: 'quick' })
    expect(third.task).toBeNull()
    expect((await call('taskman_task_note_list', { id })).notes).toMatchObject([
      { content: expect.stringContaining('lost claimed it'), kind: 'progress' },
    ])
    const stale = { planned_task_id: id, claim_token: first.claim.token, agent_name: 'lost' }
    expect(await refused('start_task', stale)).toMatchObject({ code: 'CONFLICT', reason: 'claim_ended' })
    const valid = { planned_task_id: id, claim_token: second.claim.token, agent_name: 'quick' }
    expect(await call('start_task', valid)).toMatchObject({ task_id: id })
    expect(await get(id)).toMatchObject({ status: 'in_progress', claimed_by: 'quick' })
  })

  test('an attempt holds the claim however long it lasts', async () => {
    const { plan, call, wait, get } = await openPlan()
    const id = await plan('Draw')
    const { claim } = await call('taskman_task_next', { claim: true })
    await call('start_task', { planned_task_id: id, claim_token: claim.token })
    wait(90 * minutes)
    expect((await call('taskman_task_next', { claim: true })).task).toBeNull()
    expect(await get(id)).toMatchObject({ status: 'in_progress' })
  })

  test('what another holds is not started without the token', async () => {
    const { plan, call, refused } = await openPlan()
    const id = await plan('Draw')
    await call('taskman_task_next', { claim: true }, { actor: agentNamed('one') })
    const other = await refused('start_task', { planned_task_id: id }, { actor: agentNamed('two') })
    expect(other).toMatchObject({ code: 'CONFLICT', reason: 'claim_held_by_other' })
  })
})

describe('open dependencies', () => {
  test('they stop start_task; force begins all the same, and leaves a mark', async () => {
    const { plan, call, refused } = await openPlan()
    const first = await plan('First')
    const second = await plan('Second')
    await call('taskman_task_dep_add', { 'task-id': second, 'dep-id': first })
    const words = await refused('start_task', { planned_task_id: second })
    expect(words).toMatchObject({
      code: 'REFUSED',
      reason: 'dependencies_open',
      fix: { operation: 'taskman_task_next' },
    })
    const started = await call('start_task', { planned_task_id: second, force: true })
    expect(started.warnings.join(' ')).toContain('depends on are not done')
    const { events } = await call('log', { limit: 10 })
    expect(events).toContainEqual(expect.objectContaining({ kind: 'task.forced' }))
  })
})

test('a mission that has ended gives out no work, and has none that is ready', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Shop', objective: 'Sell' })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Try' })
  await project.call('complete_task', { task_id, status: 'failed', outcome: { summary: 'It did not work.' } })
  const offered = async () => (await project.call('taskman_task_next', { mission: mission_id })).task?.id
  const listed = async () =>
    (await project.call('taskman_task_list', { mission: mission_id, ready: true })).tasks.length
  const onBoard = async () => (await project.call('board', {})).columns.ready.length
  expect([await offered(), await listed(), await onBoard()]).toEqual([task_id, 1, 1])
  await project.call('complete_mission', { mission_id, status: 'failed', summary: 'Given up.' })
  expect([await offered(), await listed(), await onBoard()]).toEqual([undefined, 0, 0])
})

test('in a mission that has ended, it says so, and how its tasks are started', async () => {
  const { call } = await openPlan({ git: true })
  const { mission_id } = await call('start_mission', { name: 'Ended', objective: 'End' })
  const tasks = [{ key: 'left', title: 'Left', phase: 'Build' }]
  await call('plan_tasks', { mission_id, phases: [{ name: 'Build' }], tasks })
  await call('complete_mission', { mission_id, status: 'partial', summary: 'Enough.' })
  const { task, message } = await call('taskman_task_next', { mission: mission_id })
  expect(task).toBeNull()
  expect(message).toContain('has ended')
  expect((await call('taskman_task_next', { mission: 'none' })).message).not.toContain('has ended')
})
