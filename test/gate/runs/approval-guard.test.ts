import { expect, test } from 'vitest'
import { history } from '../../../src/gate/cli/run.ts'
import { type Answer, agentActor, person } from '../../support/project.ts'
import { process } from './processes.ts'
import { failureOf, runOf, type TestRun } from './run.ts'

const ana = { ...person, name: 'Ana' }
const ben = { ...person, name: 'Ben' }

/** An agent's event that people of a role approve what was handed in for. */
function approving(count: number, artifact = ', artifact: plan'): string {
  return process('approving', {
    guards: `  ok: { type: approval, role: reviewer${artifact}, count: ${count} }`,
    guard: 'ok, when_blocked: record',
    artifacts: '  - { type: plan, paths: ["plan.md"] }\n  - { type: note, paths: ["note.md"] }',
  })
}

async function submitted(text: string): Promise<TestRun> {
  const run = await runOf(text, { git: true })
  run.project.write('plan.md', 'The plan.')
  await run.emit('go', { artifact_paths: ['plan.md'] })
  return run
}

function approve({ project, id }: TestRun, actor = person, more: object = {}): Promise<Answer> {
  return project.call('approve', { id, reason: 'Fine.', role: 'reviewer', ...more }, { actor })
}

async function missing(run: TestRun): Promise<string> {
  return (await run.emit('go')).unsatisfied_guards?.[0]
}

// `go` is a reviewer's event too in the other processes; here it is the agent's alone.
const oneApproval = approving(1).replace('[agent, reviewer]', '[agent]')
const twoApprovals = approving(2).replace('[agent, reviewer]', '[agent]')

test('an approval of what was handed in lets the agent’s event pass', async () => {
  const run = await submitted(oneApproval)
  expect(await missing(run)).toBe('ok: 0 of 1 approvals by reviewer of "plan"')
  expect(await approve(run)).toMatchObject({
    decided: true,
    approvals: [{ role: 'reviewer', artifact: 'plan' }],
    still_missing: [],
  })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('two approvals are two people’s: the same person twice is one', async () => {
  const run = await submitted(twoApprovals)
  expect(await approve(run, ana)).toMatchObject({
    decided: false,
    still_missing: ['ok: 1 of 2 approvals by reviewer of "plan"'],
  })
  expect(await approve(run, ana)).toMatchObject({ decided: false })
  expect(await approve(run, ben)).toMatchObject({ decided: true, still_missing: [] })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('a change of what was approved voids the approval; the former content brings it back', async () => {
  const run = await submitted(oneApproval)
  await approve(run)
  run.project.write('plan.md', 'Another plan.')
  expect(await missing(run)).toContain('0 of 1 approvals by reviewer of "plan"; it changed after an approval')
  await run.emit('go', { artifact_paths: ['plan.md'] })
  expect((await run.state()).current_state).toBe('work')
  run.project.write('plan.md', 'The plan.')
  expect(await run.emit('go', { artifact_paths: ['plan.md'] })).toMatchObject({ status: 'succeeded' })
})

test('an approval of one type does not mind a change of another', async () => {
  const run = await submitted(oneApproval)
  await approve(run)
  run.project.write('note.md', 'A note.')
  run.project.write('README.md', '# Other\n')
  expect(await run.emit('go', { artifact_paths: ['note.md'] })).toMatchObject({ status: 'succeeded' })
})

test('no one approves their own work', async () => {
  const run = await runOf(oneApproval.replace('allowed_roles: [agent]', 'allowed_roles: [agent, owner]'))
  run.project.write('plan.md', 'The plan.')
  await run.emit('go', { artifact_paths: ['plan.md'] }, ana)
  expect(await failureOf(approve(run, ana))).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining('Ana submitted the files to approve'),
  })
  expect(await approve(run, ben)).toMatchObject({ decided: true })
})

test('an approval by who hands in the same content later does not count', async () => {
  const run = await submitted(oneApproval.replace('allowed_roles: [agent]', 'allowed_roles: [agent, owner]'))
  await approve(run, ana)
  expect(await run.emit('go', { artifact_paths: ['plan.md'], dry_run: true }, ana)).toMatchObject({
    result: { unsatisfied_guards: ['ok: 0 of 1 approvals by reviewer of "plan"; an author cannot approve'] },
  })
})

test('a file that comes with the event is not covered by an approval of those before it', async () => {
  const run = await submitted(oneApproval.replace('"plan.md"', '"plan*.md"'))
  await approve(run)
  run.project.write('plan-2.md', 'What nobody has seen.')
  expect(await run.emit('go', { artifact_paths: ['plan-2.md'] })).toMatchObject({
    status: 'active',
    unsatisfied_guards: ['ok: 0 of 1 approvals by reviewer of "plan"; it changed after an approval'],
  })
})

test('an approval in another role does not count', async () => {
  const run = await submitted(oneApproval)
  expect(await failureOf(approve(run, ana, { role: 'owner' }))).toMatchObject({ code: 'REFUSED' })
  const owner = { ...ana, role: 'owner' }
  expect(await failureOf(approve(run, owner))).toMatchObject({ code: 'REFUSED' })
})

test('there must be something to approve', async () => {
  const run = await runOf(oneApproval)
  expect(await failureOf(approve(run))).toMatchObject({
    code: 'REFUSED',
    message: `Run ${run.id} has no "plan" to approve.`,
  })
})

test('an agent cannot approve, whatever role it claims', async () => {
  const run = await submitted(oneApproval)
  const claiming = { ...agentActor, role: 'reviewer' }
  expect(await failureOf(approve(run, claiming as typeof person))).toMatchObject({ code: 'FORBIDDEN' })
  expect(await missing(run)).toContain('0 of 1')
})

test('an approval of the state is voided by any change of the tree, and counts again when it is taken back', async () => {
  const run = await runOf(approving(1, '').replace('[agent, reviewer]', '[agent]'), { git: true })
  await approve(run)
  run.project.write('src/api.ts', 'export const api = 2\n')
  expect(await run.emit('go', { dry_run: true })).toMatchObject({
    result: { unsatisfied_guards: ['ok: 0 of 1 approvals by reviewer; it changed after an approval'] },
  })
  run.project.write('src/api.ts', 'export const api = 1\n')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

/** A reviewer's event, which comes after an agent's. */
function byReviewer(count: number): string {
  return approving(count)
    .replace('[agent, reviewer]', '[reviewer]')
    .replaceAll('event: go', 'event: approve')
    .replace('name: go', 'name: approve')
    .replace(', when_blocked: record', '')
    .replace('events:', 'events:\n  - { name: hand_in, allowed_roles: [agent] }')
    .replace('transitions:', 'transitions:\n  - { from: work, event: hand_in, to: work }')
}

test('a person’s event gives its own approval, and waits for the second one', async () => {
  const run = await runOf(byReviewer(2), { git: true })
  run.project.write('plan.md', 'The plan.')
  await run.emit('hand_in', { artifact_paths: ['plan.md'] })
  expect(await approve(run, ana)).toMatchObject({
    decided: false,
    event: 'approve',
    still_missing: ['ok: 1 of 2 approvals by reviewer of "plan"'],
  })
  expect((await run.history()).refusals_total).toBe(0)
  expect(await approve(run, ben)).toMatchObject({ decided: true, status: 'succeeded' })
})

test('nobody approves the state that they brought the run to', async () => {
  const text = approving(1, '')
    .replace('[agent, reviewer]', '[reviewer]')
    .replaceAll('event: go', 'event: approve')
    .replace('name: go', 'name: approve')
    .replace('events:', 'events:\n  - { name: submit, allowed_roles: [agent, owner] }')
    .replace('transitions:', 'transitions:\n  - { from: work, event: submit, to: work }')
  const run = await runOf(text, { git: true })
  await run.emit('submit', {}, ana)
  expect(await failureOf(approve(run, ana))).toMatchObject({
    code: 'FORBIDDEN',
    message: `Ana brought run ${run.id} to "work", the state to approve. Nobody can approve their own work.`,
  })
  expect(await approve(run, ben)).toMatchObject({ decided: true, status: 'succeeded' })
})

test('an approval that is given with an event is listed once in the history, with its event', async () => {
  const run = await runOf(byReviewer(1), { git: true })
  run.project.write('plan.md', 'The plan.')
  await run.emit('hand_in', { artifact_paths: ['plan.md'] })
  expect(await approve(run)).toMatchObject({ decided: true, event: 'approve' })
  const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() }
  const text = history((await run.history()) as never, page as never)
  expect(text.match(/plan as reviewer/g)).toHaveLength(1)
  expect(text).not.toContain('Approvals')
})
