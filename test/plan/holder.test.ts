import { describe, expect, test } from 'vitest'
import type { Actor } from '../../src/kernel/actor.ts'
import { agentActor } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

const minutes = 60_000

const on = (connection: string, name = 'claude'): { readonly actor: Actor } => ({
  actor: { ...agentActor, name, connection },
})

describe('the same agent is the holder with or without its token', () => {
  test.each([
    ['a name', { agent_name: 'lead' }, { agent_name: 'lead' }],
    ['a name given up after a compacted context', { agent_name: 'lead' }, {}],
    ['a name that it takes only with the work', {}, { agent_name: 'lead' }],
    ['no name at all', {}, {}],
  ])('on its connection: %s', async (_, claiming, starting) => {
    const { plan, call } = await openPlan({ git: true })
    const id = await plan('Draw')
    await call('taskman_task_next', { claim: true, ...claiming }, on('c-1'))
    const started = await call('start_task', { planned_task_id: id, ...starting }, on('c-1'))
    expect(started).toMatchObject({ task_id: id, warnings: [] })
  })

  test('its own open attempt is answered again, also without its name', async () => {
    const { plan, call } = await openPlan({ git: true })
    const id = await plan('Draw')
    const { attempt_id } = await call('start_task', { planned_task_id: id, agent_name: 'lead' }, on('c-1'))
    expect(await call('start_task', { planned_task_id: id }, on('c-1'))).toMatchObject({ attempt_id })
  })

  test('another name on the connection, and another connection, are others', async () => {
    const { plan, call, refused } = await openPlan({ git: true })
    const id = await plan('Draw')
    await call('taskman_task_next', { claim: true, agent_name: 'lead' }, on('c-1'))
    const begin = (more: object, actor: { readonly actor: Actor }) =>
      refused('start_task', { planned_task_id: id, ...more }, actor)
    expect(await begin({ agent_name: 'worker' }, on('c-1'))).toMatchObject({
      code: 'CONFLICT',
      reason: 'claim_held_by_other',
    })
    expect(await begin({}, on('c-2'))).toMatchObject({ code: 'CONFLICT', reason: 'claim_held_by_other' })
  })

  test('of a connection that was lost, by its name, where it says so; another name never', async () => {
    const { plan, call, refused } = await openPlan({ git: true })
    const id = await plan('Draw')
    await call('taskman_task_next', { claim: true }, on('c-1'))
    const begin = { planned_task_id: id }
    const refusal = await refused('start_task', begin, on('c-2'))
    expect(refusal.fix).toMatchObject({ operation: 'start_task', input: { ...begin, take_over: true } })
    const other = await refused('start_task', { ...begin, take_over: true }, on('c-3', 'codex'))
    expect(other).toMatchObject({ reason: 'claim_held_by_other' })
    expect(await call('start_task', { ...begin, take_over: true }, on('c-2'))).toMatchObject({ task_id: id })
  })
})

test('an open attempt that another session completes names who started it', async () => {
  const { plan, call } = await openPlan({ git: true })
  const id = await plan('Draw')
  const { attempt_id } = await call('start_task', { planned_task_id: id, agent_name: 'lead' }, on('c-1'))
  const done = { task_id: id, status: 'success', outcome: { summary: 'Drawn.' } }
  const { verification } = await call('complete_task', done, on('c-2', 'codex'))
  expect(verification.warnings).toEqual([`lead started attempt ${attempt_id}, in another session.`])
})

test('a person starts in the terminal what they took in the dashboard; others, and agents of their name, do not', async () => {
  const { plan, call, refused } = await openPlan({ git: true })
  const id = await plan('Draw')
  const ana = { name: 'Ana', kind: 'person', role: null, identity: 'user:ana' } as const
  const dashboard: Actor = { ...ana, channel: 'dashboard', connection: 's-1' }
  await call('taskman_task_edit', { id, status: 'in_progress' }, { actor: dashboard })
  const others: readonly Actor[] = [
    { ...ana, channel: 'cli', identity: 'user:bob' },
    { ...ana, channel: 'cli', kind: 'agent' },
    { ...agentActor, name: 'Ana' },
  ]
  for (const actor of others)
    expect(await refused('start_task', { planned_task_id: id, take_over: true }, { actor })).toMatchObject({
      reason: 'claim_held_by_other',
    })
  const terminal: Actor = { ...ana, name: 'ana', channel: 'cli' }
  expect(await call('start_task', { planned_task_id: id }, { actor: terminal })).toMatchObject({
    task_id: id,
    warnings: [],
  })
})

describe('a token', () => {
  test('of another task, and one that no claim ever had, are told apart from one that ended', async () => {
    const { plan, call, refused, wait } = await openPlan({ git: true })
    const first = await plan('first')
    await plan('second')
    const claim = async (agent_name: string) =>
      (await call('taskman_task_next', { claim: true, agent_name })).claim.token as string
    const [ofFirst, ofSecond] = [await claim('a'), await claim('b')]
    const begin = (claim_token: string) =>
      refused('start_task', { planned_task_id: first, agent_name: 'c', claim_token })
    expect(await begin(ofSecond)).toMatchObject({
      code: 'CONFLICT',
      reason: 'claim_token_unknown',
      fix: { operation: 'taskman_task_next', input: { claim: true } },
    })
    expect(await begin('typo')).toMatchObject({
      code: 'CONFLICT',
      reason: 'claim_token_unknown',
      fix: { operation: 'taskman_task_next', input: { claim: true } },
    })
    wait(31 * minutes)
    await claim('d')
    const ended = await begin(ofFirst)
    expect(ended).toMatchObject({
      code: 'CONFLICT',
      reason: 'claim_ended',
      fix: { operation: 'taskman_task_next', input: { claim: true } },
    })
  })

  test('an older one of the holder itself does no harm', async () => {
    const { plan, call, wait } = await openPlan({ git: true })
    const id = await plan('Draw')
    const claim = () => call('taskman_task_next', { claim: true, agent_name: 'lead' }, on('c-1'))
    const { token } = (await claim()).claim
    wait(31 * minutes)
    await claim()
    const input = { planned_task_id: id, agent_name: 'lead', claim_token: token }
    expect(await call('start_task', input, on('c-1'))).toMatchObject({ task_id: id })
  })
})
