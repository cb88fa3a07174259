import { expect, test } from 'vitest'
import { explorationProcess } from './processes.ts'
import { runOf } from './run.ts'

test('SG-002 SG-003 SG-004 SG-005 SG-010 SG-011 get_state tells which run it is, of which process, and where it stands', async () => {
  const run = await runOf(explorationProcess)
  expect(run.id).toMatch(/^run-[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  const state = await run.state()
  expect(state).toMatchObject({
    run_id: run.id,
    process_id: 'exploration-process',
    process_version: '1.0.0',
    status: 'active',
    current_state: 'experiment',
    revision: 1,
    context: { exploration_mode: 'domain', team_mode: 'solo' },
    prompt: 'Plan for domain.',
  })
  expect(state.updated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/)
})

test('SG-006 SG-007 SG-009 SG-012 the specification’s example: nothing was submitted in experiment, and the event can still be tried', async () => {
  const run = await runOf(explorationProcess)
  const state = await run.state()
  expect(state.missing_guards).toContainEqual({
    guard_name: 'has_experiment_plan',
    description: '実験計画が必要です',
    current_status: 'no "experiment_plan" was submitted',
    fix: 'Attach a file of type "experiment_plan" to the event.',
  })
  expect(state.required_artifacts).toEqual([
    { type: 'experiment_plan', description: '実験計画', status: 'missing', paths: ['docs/experiment.md'] },
  ])
  expect(state.allowed_events[0]).toEqual({
    event_name: 'submit_experiment_plan',
    description: '実験計画を提出',
    payload_schema: { type: 'object', required: ['plan'], properties: { plan: { type: 'string' } } },
    would_transition_to: null,
  })
  // An event without a schema has none in the answer either.
  expect(state.allowed_events[1]).toEqual({
    event_name: 'drop',
    description: '',
    would_transition_to: 'dropped',
  })
})

test('SG-008 a required artifact is present once it was handed in, and missing again when its file is gone', async () => {
  const text = explorationProcess.replace(
    'to: observe, guard: has_experiment_plan',
    'to: observe, guard: has_synthesis, when_blocked: record',
  )
  const run = await runOf(text)
  run.project.write('docs/experiment.md', 'The plan.')
  const required = async () => (await run.state()).required_artifacts[0]
  expect(await required()).toMatchObject({ status: 'missing' })
  await run.emit('submit_experiment_plan', { payload: { plan: 'p' }, artifact_paths: ['docs/experiment.md'] })
  expect(await required()).toMatchObject({ status: 'present', files: ['docs/experiment.md'] })
  run.project.remove('docs/experiment.md')
  expect(await required()).toMatchObject({
    status: 'missing',
    not_counted: ['docs/experiment.md was deleted after it was submitted'],
  })
})

test('SG-059 the revision of get_state is the expected_revision of the next event, in every state', async () => {
  const run = await runOf(explorationProcess)
  run.project.write('docs/experiment.md', 'The plan.')
  for (const name of ['a', 'b', 'c']) run.project.write(`evidence/${name}.md`, name)
  const steps = [
    ['submit_experiment_plan', { plan: 'p' }, 'docs/experiment.md'],
    ['submit_observation', { findings: 'a' }, 'evidence/a.md'],
    ['submit_observation', { findings: 'b' }, 'evidence/b.md'],
    ['submit_observation', { findings: 'c' }, 'evidence/c.md'],
  ] as const
  for (const [event, payload, path] of steps) {
    const { revision } = await run.state()
    const { new_revision } = await run.emit(event, {
      payload,
      artifact_paths: [path],
      expected_revision: revision,
    })
    expect(new_revision).toBe(revision + 1)
  }
  expect(await run.state()).toMatchObject({ current_state: 'synthesize', revision: 5 })
})

test('a finished run allows nothing and lacks nothing', async () => {
  const run = await runOf(explorationProcess)
  await run.emit('drop')
  expect(await run.state()).toMatchObject({ status: 'failed', allowed_events: [], missing_guards: [] })
})
