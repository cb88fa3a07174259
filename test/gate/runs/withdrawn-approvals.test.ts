import { expect, test } from 'vitest'
import { history } from '../../../src/gate/cli/run.ts'
import { type Answer, agentActor, person } from '../../support/project.ts'
import { process } from './processes.ts'
import { runOf, type TestRun } from './run.ts'

const ana = { ...person, name: 'Ana' }
const ben = { ...person, name: 'Ben' }

/** An agent's event that asks for approvals of the plan, and a person's event that sends it back to do again. */
function planned({ count = 1, back = 'send_back', to = 'work' } = {}): string {
  return process('planned', {
    guards: `  ok: { type: approval, role: reviewer, artifact: plan, count: ${count} }`,
    guard: 'ok, when_blocked: record',
    artifacts: '  - { type: plan, paths: ["plan.md"] }',
  })
    .replace('[agent, reviewer]', '[agent]')
    .replace('events:', `events:\n  - { name: ${back}, allowed_roles: [reviewer] }`)
    .replace('transitions:', `transitions:\n  - { from: work, event: ${back}, to: ${to} }`)
}

const withoutBack = process('planned', {
  guards: '  ok: { type: approval, role: reviewer, artifact: plan }',
  guard: 'ok, when_blocked: record',
  artifacts: '  - { type: plan, paths: ["plan.md"] }',
}).replace('[agent, reviewer]', '[agent]')

async function submitted(text: string, more = {}): Promise<TestRun> {
  const run = await runOf(text, { git: true, ...more })
  run.project.write('plan.md', 'The plan.\n')
  await run.emit('go', { artifact_paths: ['plan.md'] })
  return run
}

function answer({ project, id }: TestRun, verb: string, actor = ana): Promise<unknown> {
  return project.call(verb, { id, reason: 'Because.' }, { actor })
}

async function submitAgain(run: TestRun) {
  return run.emit('go', { artifact_paths: ['plan.md'] })
}

const withdrawn = 'ok: 0 of 1 approvals by reviewer of "plan"; Ana sent it back after approving it'

test('a person who sends a run back withdraws what they approved of it, until they approve again', async () => {
  const run = await submitted(planned())
  await answer(run, 'approve')
  await answer(run, 'reject')
  expect(await submitAgain(run)).toMatchObject({ status: 'active', unsatisfied_guards: [withdrawn] })
  expect(JSON.stringify(await run.events())).toContain('Ana sent it back after approving it')
  expect(JSON.stringify(await run.state())).toContain('Because.')
  expect((await run.history()).approvals).toMatchObject([
    { author: 'Ana', withdrawn_at: expect.stringContaining('T') },
  ])
  // The same content again is no repeat of the approval that was withdrawn.
  expect(await answer(run, 'approve')).toMatchObject({ decided: true, still_missing: [] })
  expect((await run.history()).approvals).toMatchObject([
    { withdrawn_at: expect.any(String) },
    { withdrawn_at: null },
  ])
  expect(await submitAgain(run)).toMatchObject({ status: 'succeeded' })
})

test('a rejection withdraws an approval where no event of the process means no', async () => {
  const run = await submitted(withoutBack)
  await answer(run, 'approve')
  await answer(run, 'reject')
  expect(await submitAgain(run)).toMatchObject({ status: 'active', unsatisfied_guards: [withdrawn] })
  expect(await answer(run, 'approve')).toMatchObject({ decided: true })
  expect(await submitAgain(run)).toMatchObject({ status: 'succeeded' })
})

test('an event that leads back withdraws approvals, whatever it is called', async () => {
  const run = await submitted(planned({ back: 'once_more' }))
  await answer(run, 'approve')
  const input = { run_id: run.id, event: 'once_more', reason: 'Think again.' }
  await run.project.call('decide', input, { actor: ana })
  expect(await submitAgain(run)).toMatchObject({ status: 'active', unsatisfied_guards: [withdrawn] })
})

test('the order of the log decides, not the clock', async () => {
  const run = await submitted(planned())
  await answer(run, 'approve')
  run.project.wait(-365 * 24 * 3_600_000)
  await answer(run, 'reject')
  expect(await submitAgain(run)).toMatchObject({ status: 'active', unsatisfied_guards: [withdrawn] })
  run.project.wait(-365 * 24 * 3_600_000)
  await answer(run, 'approve')
  expect(await submitAgain(run)).toMatchObject({ status: 'succeeded' })
})

test('a person withdraws nobody else’s approval, and none in another run', async () => {
  const one = await submitted(planned({ count: 2 }))
  const other = await submitted(planned({ count: 2 }), { project: one.project })
  for (const run of [one, other]) {
    await answer(run, 'approve', ana)
    await answer(run, 'approve', ben)
  }
  await answer(one, 'reject', ana)
  expect((await submitAgain(one)).unsatisfied_guards).toEqual([
    'ok: 1 of 2 approvals by reviewer of "plan"; Ana sent it back after approving it',
  ])
  expect(await submitAgain(other)).toMatchObject({ status: 'succeeded' })
})

test('an agent that sends a run to where it was withdraws no approval', async () => {
  const text = planned({ back: 'once_more' }).replace(
    'once_more, allowed_roles: [reviewer]',
    'once_more, allowed_roles: [agent]',
  )
  const run = await submitted(text)
  await answer(run, 'approve')
  await run.emit('once_more', {}, agentActor)
  expect(await submitAgain(run)).toMatchObject({ status: 'succeeded' })
})

test('a person’s event that comments and stays withdraws nothing where agents may send it too', async () => {
  const text = planned({ back: 'comment' }).replace(
    'comment, allowed_roles: [reviewer]',
    'comment, allowed_roles: ["*"]',
  )
  const run = await submitted(text)
  await answer(run, 'approve')
  await run.project.call('decide', { run_id: run.id, event: 'comment', reason: 'Nice.' }, { actor: ana })
  expect(await submitAgain(run)).toMatchObject({ status: 'succeeded' })
})

test('an approval that was given with an event is withdrawn too', async () => {
  const text = planned({ count: 2 })
    .replaceAll('event: go', 'event: approve')
    .replace('name: go, allowed_roles: [agent]', 'name: approve, allowed_roles: [reviewer]')
    .replace(', when_blocked: record', '')
    .replace('events:', 'events:\n  - { name: submit, allowed_roles: [agent] }')
    .replace('transitions:', 'transitions:\n  - { from: work, event: submit, to: work }')
  const run = await runOf(text, { git: true })
  run.project.write('plan.md', 'The plan.\n')
  await run.emit('submit', { artifact_paths: ['plan.md'] })
  expect(await answer(run, 'approve', ana)).toMatchObject({ decided: false, event: 'approve' })
  await answer(run, 'reject', ana)
  await run.emit('submit', { artifact_paths: ['plan.md'] })
  expect(await answer(run, 'approve', ben)).toMatchObject({
    decided: false,
    still_missing: ['ok: 1 of 2 approvals by reviewer of "plan"; Ana sent it back after approving it'],
  })
  expect(await answer(run, 'approve', ana)).toMatchObject({ decided: true, status: 'succeeded' })
})

test('the history and the log say that an approval was withdrawn', async () => {
  const run = await submitted(planned())
  await answer(run, 'approve')
  await answer(run, 'reject')
  const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() }
  expect(history((await run.history()) as never, page as never)).toMatch(
    /plan as reviewer \(withdrawn [^)]+\)/,
  )
  const { events: projectEvents } = await run.project.call('log', {})
  expect(projectEvents).toContainEqual(
    expect.objectContaining({ kind: 'run.approvals_withdrawn', actor: 'Ana' }),
  )
})

test('a simulation says which events withdraw approvals of whoever sends them', async () => {
  const run = await runOf(planned())
  const input = { process: 'planned', events: 'send_back,go', satisfied: ['*'] }
  const { steps } = await run.project.call('process_simulate', input)
  const withdraws = steps.map((step: Answer) => [step.event, step.withdraws_approvals ?? false])
  expect(withdraws).toEqual([
    ['send_back', true],
    ['go', false],
  ])
})
