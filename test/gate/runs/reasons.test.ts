import { expect, test } from 'vitest'
import { brief } from '../../../src/gate/domain/hook/session-briefing.ts'
import { hookSituation, readBriefing } from '../../../src/gate/operations/hook.ts'
import type { SnapshotRef } from '../../../src/git/ports/work-tree.ts'
import { person } from '../../support/project.ts'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'
import { spoken } from '../../surfaces/cli/spoken.ts'
import { process } from './processes.ts'
import { failureOf } from './run.ts'
import { gatedMission } from './subject.ts'

const reason = 'No tests for expired sessions.'

const text = process('sending-back', { work: ', prompt: "Build it."' })
  .replace('  - { name: done, is_final: true }', '  - { name: review }\n  - { name: done, is_final: true }')
  .replace('{ from: work, event: go, to: done }', '{ from: work, event: go, to: review }')
  .replace(
    'events:',
    'events:\n  - { name: send_back, allowed_roles: [reviewer] }\n  - { name: approve, allowed_roles: [reviewer] }',
  )
  .replace(
    'transitions:',
    'transitions:\n  - { from: review, event: send_back, to: work }\n  - { from: review, event: approve, to: done }',
  )

async function inReview() {
  const gated = await gatedMission(text, 'sending-back')
  await gated.run.emit('go')
  return gated
}

test('why a run was sent back is read in its state, its prompt, its summary, its mission and the brief', async () => {
  const { project, run, missionId } = await inReview()
  await project.call('reject', { id: run.id, reason }, { actor: person })
  const messages = [
    { author: 'Tess', did: 'send_back', words: reason, to: 'work', created_at: expect.any(String) },
  ]
  expect(await run.state()).toMatchObject({
    current_state: 'work',
    messages,
    prompt: `Build it.\n\nTess (send_back) says: ${reason}`,
  })
  expect((await project.call('run_summary', { run_id: run.id })).messages).toEqual(messages)
  const context = await project.call('get_context', { mission_id: missionId, include: ['blockers'] })
  expect(context.runs[0].messages).toEqual(messages)
  const { store, clock, witness, folder } = project.context
  const place = { top: folder, now: clock.now(), packages: (ref: SnapshotRef) => witness.packages(ref) }
  const going = await store.view(async (reads) => readBriefing(reads, await hookSituation(reads, place)))
  expect(brief(going)).toContain(`Tess (send_back) says: ${reason}`)
})

test('the words leave the prompt when the run goes on, and stay in what was said', async () => {
  const { project, run } = await inReview()
  await project.call('reject', { id: run.id, reason }, { actor: person })
  await run.emit('go')
  const state = await run.state()
  expect(state.prompt).toBeUndefined()
  expect(state.messages).toMatchObject([{ words: reason }])
})

test('a no without words is refused, and so is an empty answer to a question', async () => {
  const { project, run, start } = await inReview()
  const asked = (name: string, input: object) =>
    failureOf(project.call(name, input, { actor: person })).then(({ code, message }) => `${code} ${message}`)
  const needs = /^INVALID_INPUT .*(?:without|needs) a text/
  expect(await asked('reject', { id: run.id })).toMatch(needs)
  expect(await asked('reject', { id: run.id, reason: '  ' })).toMatch(needs)
  expect(await asked('decide', { run_id: run.id, event: 'send_back' })).toMatch(needs)
  expect((await run.state()).current_state).toBe('review')
  const task_id = await start()
  const issue = { task_id, type: 'UNCLEAR_REQUIREMENT', description: 'Which?', requires_human_review: true }
  await project.call('log_issue', { ...issue, resolution: 'None yet.' })
  const { items } = await project.call('inbox', { kind: 'blocker' }, { actor: person })
  const id = items[0].item_id
  expect(await asked('resolve', { id })).toMatch(needs)
  expect(await asked('resolve', { id, answer: ' \n' })).toMatch(needs)
  expect(await asked('approve', { id })).toMatch(/^REFUSED /)
  expect(await project.call('resolve', { id, answer: 'The second.' }, { actor: person })).toMatchObject({
    status: 'resolved',
  })
})

test('the words of an approval and of a command that was refused are read too', async () => {
  const { project, run } = await gatedMission(
    process('asking', { guards: '  ok: { type: command, run: "true" }', guard: 'ok' }),
    'asking',
  )
  await run.refused('go')
  const { items } = await project.call('inbox', { kind: 'command' }, { actor: person })
  const said = { id: items[0].item_id, reason: 'It deletes the data.' }
  await project.call('reject', said, { actor: person })
  expect((await run.state()).messages).toMatchObject([
    { did: 'dismissed command', words: 'It deletes the data.' },
  ])
})

test('what a person said with an event is in the prompt of its answer, and on the page of the run', async () => {
  const { project, run } = await inReview()
  const answer = await project.call('reject', { id: run.id, reason }, { actor: person })
  const prompt = `Build it.\n\nTess (send_back) says: ${reason}`
  expect(answer.prompt).toBe(prompt)
  expect((await project.call('show', { id: run.id }, { actor: person })).prompt).toBe(prompt)
})

test('a no where a run waits for an approval alone is read by the agent, and the run stays and asks on', async () => {
  const approved = process('approving', {
    guards: '  approved: { type: approval, role: reviewer }',
    guard: 'approved',
    work: ', prompt: "Build it."',
  })
  const { project, run } = await gatedMission(approved, 'approving')
  const decided = await project.call('reject', { id: run.id, reason }, { actor: person })
  expect(decided).toMatchObject({ decided: true, event: null, current_state: 'work', reason })
  const state = await run.state()
  expect(state).toMatchObject({
    current_state: 'work',
    revision: 1,
    status: 'active',
    messages: [{ author: 'Tess', did: 'did not approve', words: reason, to: null }],
    prompt: `Build it.\n\nTess (did not approve) says: ${reason}`,
    waits_for: [{ kind: 'approval', reason: expect.stringContaining(`Tess did not approve it: ${reason}`) }],
  })
  await project.call('approve', { id: state.waits_for[0].item_id }, { actor: person })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('on the command line, such a no reads as one, and says where it is asked again', async () => {
  const project = openCommandLine()
  project.write(
    '.waymark/processes/approving.yaml',
    process('approving', { guards: '  approved: { type: approval, role: reviewer }', guard: 'approved' }),
  )
  const { run_id } = JSON.parse(
    (await spoken(['run', 'create', 'approving', '--format', 'json'], project)).out,
  )
  const { out } = await spoken(['reject', run_id, reason], project)
  expect(out).toMatch(
    /^Rejected: run-\S+ stays in "work" and asks again in h-\w+\. The agent gets your reason: /,
  )
  expect(out).toContain(reason)
})
