import { expect, test } from 'vitest'
import { commandLineActor } from '../../../src/app/settings/actor.ts'
import type { Actor } from '../../../src/kernel/actor.ts'
import { agentActor } from '../../support/project.ts'
import { process } from './processes.ts'
import { failureOf, runOf, type TestRun } from './run.ts'

const tess = commandLineActor({}, 'tess')
const alias = commandLineActor({ WAYMARK_ACTOR: 'Ben' }, 'tess')
/** Ben, with a token that a person made for him. */
const ben: Actor = {
  name: 'Ben',
  kind: 'person',
  role: null,
  channel: 'http',
  identity: 'token:0123456789abcdef',
}

const twoApprovals = process('approving', {
  guards: '  ok: { type: approval, role: reviewer, artifact: plan, count: 2 }',
  guard: 'ok, when_blocked: record',
  artifacts: '  - { type: plan, paths: ["plan.md"] }',
}).replace('[agent, reviewer]', '[agent, owner]')

async function submitted(by: Actor = agentActor): Promise<TestRun> {
  const run = await runOf(twoApprovals, { git: true })
  run.project.write('plan.md', 'The plan.')
  await run.emit('go', { artifact_paths: ['plan.md'] }, by)
  return run
}

function approve({ project, id }: TestRun, actor: Actor) {
  return project.call('approve', { id, reason: 'Fine.', role: 'reviewer' }, { actor })
}

test('another name is no second person: WAYMARK_ACTOR changes what is shown, not who acts', async () => {
  const run = await submitted()
  expect(alias).toMatchObject({ name: 'Ben', kind: 'person' })
  expect(await approve(run, tess)).toMatchObject({ decided: false })
  const again = await approve(run, alias)
  expect(again).toMatchObject({
    decided: false,
    still_missing: ['ok: 1 of 2 approvals by reviewer of "plan"'],
    already_approved: [{ role: 'reviewer', artifact: 'plan', author: 'tess' }],
    note: expect.stringContaining('it counts once'),
  })
  expect(await approve(run, ben)).toMatchObject({ decided: true, still_missing: [] })
})

test('approving twice is said, and stored once', async () => {
  const run = await submitted()
  await approve(run, tess)
  const again = await approve(run, tess)
  expect(again.note).toContain('You already approved plan')
  const { approvals, refusals_total } = await run.history()
  expect(approvals).toMatchObject([{ author: 'tess', identity: 'person user:tess' }])
  expect(refusals_total).toBe(0)
})

test('an agent whose client calls itself like the person neither blocks nor impersonates them', async () => {
  const namesake: Actor = { ...agentActor, name: 'tess', identity: 'user:tess' }
  const run = await submitted(namesake)
  expect(await failureOf(approve(run, namesake))).toMatchObject({ code: 'FORBIDDEN' })
  expect(await approve(run, tess)).toMatchObject({ decided: false, approvals: [{ artifact: 'plan' }] })
  expect(await approve(run, ben)).toMatchObject({ decided: true })
})

test('who handed it in cannot approve it under another name', async () => {
  const run = await submitted(tess)
  expect(await failureOf(approve(run, alias))).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining('Ben, here the same person as tess, submitted'),
  })
  expect(await approve(run, ben)).toMatchObject({ decided: false, approvals: [{ artifact: 'plan' }] })
})

test('a person of the dashboard with the server’s own token is the user of the command line', async () => {
  const run = await submitted()
  await approve(run, tess)
  const dashboard: Actor = { ...tess, name: 'Someone', channel: 'dashboard' }
  expect(await approve(run, dashboard)).toMatchObject({ decided: false, note: expect.any(String) })
})

test('a key of another agent is another key: neither its answer nor its refusal is handed out', async () => {
  const run = await runOf(process('keys', {}))
  const { project, id } = run
  const emit = (event_name: string, actor: Actor) =>
    project.call(
      'state_gate_emit_event',
      { run_id: id, event_name, expected_revision: 1, idempotency_key: 'k' },
      { actor },
    )
  const first = await emit('go', { ...agentActor, name: 'ada' })
  expect(await emit('go', { ...agentActor, name: 'ada' })).toMatchObject({
    result: { event_id: first.result.event_id, replayed: true },
  })
  expect(await failureOf(emit('go', { ...agentActor, name: 'eve' }))).toMatchObject({ code: 'RUN_FINISHED' })
})

test('the token of a claim is never answered to somebody else who knows the key', async () => {
  const { project } = await runOf(process('keys', {}))
  await project.call('taskman_phase_add', { id: 'P1', name: 'One' })
  for (const title of ['one', 'two']) await project.call('taskman_task_add', { phase: 'P1', title })
  const claim = (actor: Actor) =>
    project.call('taskman_task_next', { claim: true }, { actor, idempotencyKey: 'k' })
  const ada = { ...agentActor, name: 'ada', connection: 'one' }
  const { claim: first } = await claim(ada)
  expect((await claim(ada)).claim).toEqual(first)
  const eve = await claim({ ...ada, name: 'eve', connection: 'two' })
  expect(eve.claim.token).not.toBe(first.token)
  expect(await failureOf(claim({ ...ada, connection: 'three' }))).toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
  })
})
