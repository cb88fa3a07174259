import { expect, test } from 'vitest'
import { explorationProcess } from './processes.ts'
import { runOf, type TestRun } from './run.ts'

const plan = { payload: { plan: 'p' }, artifact_paths: ['docs/experiment.md'] }

async function traces({ project, history }: TestRun) {
  const { store } = project.context
  const head = await store.view(({ eventLog: log }) => log.head())
  const { items } = await project.call('inbox')
  return { head, items: items.length, history: await history() }
}

test('a dry run answers what then happens, but for the id, and leaves no trace', async () => {
  const run = await runOf(explorationProcess)
  run.project.write('docs/experiment.md', 'The plan.')
  const before = await traces(run)
  const foreseen = await run.emit('submit_experiment_plan', { ...plan, dry_run: true })
  expect(await traces(run)).toEqual(before)
  const { event_id: _, ...result } = await run.emit('submit_experiment_plan', plan)
  expect(foreseen).toEqual({ success: true, dry_run: true, result })
})

test('a dry run of an event that is only recorded says so', async () => {
  const run = await runOf(explorationProcess.replace('initial_state: experiment', 'initial_state: observe'))
  run.project.write('evidence/a.md', 'Seen.')
  const sent = { payload: { findings: 'f' }, artifact_paths: ['evidence/a.md'] }
  const foreseen = await run.emit('submit_observation', { ...sent, dry_run: true })
  const { event_id: _, ...result } = await run.emit('submit_observation', sent)
  expect(foreseen.result).toEqual(result)
  expect(result).toMatchObject({ state_changed: false })
})

test.each([
  ['REVISION_CONFLICT', 'drop', { expected_revision: 7 }],
  ['INVALID_EVENT', 'submit_synthesis', {}],
  ['FORBIDDEN', 'finalize', {}],
  ['INVALID_PAYLOAD', 'submit_experiment_plan', {}],
  ['INVALID_PAYLOAD', 'submit_experiment_plan', { ...plan, artifact_paths: ['../x'] }],
  ['GUARD_FAILED', 'submit_experiment_plan', { payload: { plan: 'p' } }],
])('a dry run foresees the refusal %s of %s, and is none itself', async (code, event, sent) => {
  const text = explorationProcess.replace(
    '{ from: decide, event: finalize, to: answered }',
    '{ from: decide, event: finalize, to: answered }\n  - { from: experiment, event: finalize, to: answered }',
  )
  const run = await runOf(text)
  const before = await traces(run)
  const foreseen = await run.emit(event, { ...sent, dry_run: true })
  expect(foreseen).toMatchObject({ success: false, dry_run: true, error: { code } })
  expect(await traces(run)).toEqual(before)
  const failure = await run.refused(event, sent)
  expect(foreseen.error).toMatchObject({ code: failure.code, message: failure.message })
  expect((await run.history()).refusals_total).toBe(1)
})

test('a dry run of an event that was accepted before foresees the replay', async () => {
  const run = await runOf(explorationProcess)
  const { event_id } = await run.emit('drop', { idempotency_key: 'drop-1' })
  const again = { idempotency_key: 'drop-1', expected_revision: 1, dry_run: true }
  expect(await run.emit('drop', again)).toMatchObject({ success: true, result: { replayed: true, event_id } })
})
