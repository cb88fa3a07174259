import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { failureOf, runOf, type TestRun } from './run.ts'

const ana = { ...person, name: 'Ana' }

/** An agent's event that a reviewer approves what was handed in for. */
const approving = process('approving', {
  guards: '  ok: { type: approval, role: reviewer, artifact: plan }',
  guard: 'ok, when_blocked: record',
  artifacts: '  - { type: plan, paths: ["plan.md"] }',
}).replace('[agent, reviewer]', '[agent]')

async function submitted(plan: string): Promise<TestRun> {
  const run = await runOf(approving, { git: true })
  run.project.write('plan.md', plan)
  await run.emit('go', { artifact_paths: ['plan.md'] })
  return run
}

async function asked(run: TestRun) {
  const { items } = await run.project.call('inbox', {}, { actor: person })
  expect(items).toHaveLength(1)
  return items[0]
}

test('the inbox, with evidence or without, and the page of the run show one content, and an answer to it counts', async () => {
  const run = await submitted('The plan.\n')
  const { item_id, content } = await asked(run)
  expect(content).toMatch(/^[0-9a-f]{64}$/)
  const { items } = await run.project.call('inbox', { include: ['evidence'] }, { actor: person })
  expect(items[0].content).toBe(content)
  expect((await run.project.call('show', { id: run.id }, { actor: person })).content).toBe(content)
  const said = { id: item_id, reason: 'Fine.', content: content.slice(0, 8) }
  expect(await run.project.call('approve', said, { actor: ana })).toMatchObject({ decided: true })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('what was handed in again since it was shown is not approved: the answer is the difference', async () => {
  const run = await submitted('The plan.\nOne line.\n')
  const { item_id, content } = await asked(run)
  run.project.write('plan.md', 'The plan.\nAnother line.\n')
  await run.emit('go', { artifact_paths: ['plan.md'] })
  const said = { id: item_id, reason: 'Fine.', content }
  const failure = await failureOf(run.project.call('approve', said, { actor: ana }))
  expect(failure).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('plan.md changed') })
  const { difference, content: now } = failure.details as any
  expect(difference.files).toMatchObject([
    { path: 'plan.md', shown: expect.any(String), now: expect.any(String) },
  ])
  expect(difference.files[0].diff).toContain('-One line.\n+Another line.\n')
  expect((await run.history()).approvals).toEqual([])
  expect((await asked(run)).content).toBe(now)
  expect(await run.project.call('approve', { ...said, content: now }, { actor: ana })).toMatchObject({
    decided: true,
  })
})

test('a file that is another on disk than what was shown is not approved either', async () => {
  const run = await submitted('The plan.\n')
  const { item_id, content } = await asked(run)
  run.project.write('plan.md', 'Something else.\n')
  const failure = await failureOf(
    run.project.call('approve', { id: item_id, reason: 'Fine.', content }, { actor: ana }),
  )
  expect(failure).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('plan.md changed') })
})

test('a run without content is answered at the revision that was shown', async () => {
  const text = process('deciding', {})
    .replace('[agent, reviewer]', '[reviewer]')
    .replace('events:', 'events:\n  - { name: note, allowed_roles: [agent] }')
    .replace('transitions:', 'transitions:\n  - { from: work, event: note, to: work }')
  const run = await runOf(text)
  const { content } = await run.project.call('show', { id: run.id }, { actor: person })
  expect(content).toBe('r1')
  await run.emit('note')
  const said = { run_id: run.id, event: 'go', content }
  expect(await failureOf(run.project.call('decide', said, { actor: ana }))).toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('(r1 → r2)'),
  })
  expect(await run.project.call('decide', { ...said, content: 'r2' }, { actor: ana })).toMatchObject({
    decided: true,
  })
})

test('an approval of the state is bound to the tree that was shown', async () => {
  const run = await runOf(approving.replace(', artifact: plan', ''), { git: true })
  const { item_id, content } = await asked(run)
  run.project.write('src/api.ts', 'export const api = 2\n')
  const failure = await failureOf(
    run.project.call('approve', { id: item_id, reason: 'Fine.', content }, { actor: ana }),
  )
  expect(failure).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('work tree:') })
})

test('reject and send back are bound to what was shown, too', async () => {
  const text = approving
    .replace('events:', 'events:\n  - { name: send_back, allowed_roles: [reviewer] }')
    .replace('transitions:', 'transitions:\n  - { from: work, event: send_back, to: work }')
  const run = await runOf(text, { git: true })
  run.project.write('plan.md', 'The plan.\n')
  await run.emit('go', { artifact_paths: ['plan.md'] })
  const { item_id, content } = await asked(run)
  run.project.write('plan.md', 'A better plan.\n')
  await run.emit('go', { artifact_paths: ['plan.md'] })
  const said = { id: item_id, reason: 'Not good enough.', content }
  expect(await failureOf(run.project.call('reject', said, { actor: ana }))).toMatchObject({
    code: 'CONFLICT',
  })
})

test('a content that is none is refused with a sentence; a question in words has none', async () => {
  const run = await submitted('The plan.\n')
  const { item_id } = await asked(run)
  const refused = (id: string, content: string) =>
    run.project.refused('approve', { id, reason: 'Fine.', content }, { actor: ana })
  expect(await refused(item_id, 'ab')).toMatchObject({ reason: 'content_invalid' })
  expect(await refused(item_id, '../../etc/passwd')).toMatchObject({ reason: 'content_invalid' })
  expect(await refused(item_id, 'abcdef')).toMatchObject({
    reason: 'content_changed',
    details: { shown: 'abcdef', difference: null },
  })
})
