import { expect, test } from 'vitest'
import { agentActor, person, wrongFields } from '../../support/project.ts'
import { process } from './processes.ts'
import { failureOf, runOf } from './run.ts'

const peopled = process('peopled', {}).replace(
  'allowed_roles: [agent, reviewer]',
  'allowed_roles: [reviewer]',
)

test('an agent that claims a role for people is refused, by whatever channel', async () => {
  const run = await runOf(peopled)
  for (const channel of ['stdio', 'cli', 'http'] as const) {
    const claiming = { ...agentActor, role: 'reviewer', channel }
    expect(await run.refused('go', {}, claiming)).toMatchObject({
      code: 'FORBIDDEN',
      message: 'Role "reviewer" is for people; an agent cannot hold it.',
    })
  }
})

test('a connection’s role counts, and one that the process does not know may do nothing of it', async () => {
  const run = await runOf(process('plain'))
  const tester = { ...agentActor, role: 'tester' }
  expect(await run.refused('go', {}, tester)).toMatchObject({
    code: 'FORBIDDEN',
    message: 'Role "tester" may not emit "go"; agent, reviewer may.',
    hint: expect.stringContaining('WAYMARK_ROLE'),
  })
  expect((await run.events(false, tester))['go']).toBeUndefined()
  expect(await run.emit('go', {}, agentActor)).toMatchObject({ status: 'succeeded' })
})

test('a person acts in the role that the event asks for, and the history says in which', async () => {
  const run = await runOf(peopled)
  await run.emit('go', {}, person)
  expect((await run.history()).events[0]).toMatchObject({ role: 'reviewer', author: 'Tess' })
})

test('a person whose connection has a role decides only in that one', async () => {
  const run = await runOf(peopled)
  const owner = { ...person, role: 'owner' }
  const decision = run.project.call(
    'decide',
    { run_id: run.id, event: 'go', role: 'reviewer' },
    { actor: owner },
  )
  expect(await failureOf(decision)).toMatchObject({
    code: 'FORBIDDEN',
    message: 'Role "owner" may not emit "go"; reviewer may.',
  })
})

test('no argument of emit_event gives a role', async () => {
  const run = await runOf(peopled)
  const input = { event_name: 'go', expected_revision: 1, idempotency_key: 'k', role: 'reviewer' }
  expect(await run.project.refused('state_gate_emit_event', input)).toMatchObject(wrongFields('role'))
})

test('a transition may be narrower than its event', async () => {
  const text = process('narrow').replace(
    'event: go, to: done',
    'event: go, to: done, allowed_roles: [reviewer]',
  )
  const run = await runOf(text)
  expect(await run.refused('go')).toMatchObject({
    code: 'FORBIDDEN',
    message: 'Role "agent" may not emit "go" in "work".',
  })
  expect(await run.emit('go', {}, person)).toMatchObject({ status: 'succeeded' })
})

test('an event for one channel is refused by another, which is told', async () => {
  const run = await runOf(process('by-hand', { go: ', channels: [cli]' }))
  expect(await run.refused('go')).toMatchObject({
    code: 'FORBIDDEN',
    message: '"go" is accepted only through cli, not through stdio.',
    hint: expect.not.stringContaining('WAYMARK_ROLE'),
  })
  const dashboard = { ...person, channel: 'dashboard' } as const
  expect(await run.refused('go', {}, dashboard)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await run.emit('go', {}, person)).toMatchObject({ status: 'succeeded' })
})
