import { expect, test } from 'vitest'
import { explorationProcess } from './processes.ts'
import { failureOf, runOf, type TestRun } from './run.ts'

const findings = 'ユーザーは検索バーを見つけるのに平均5秒かかった'

/** The specification's run in observe, at revision 3, with one observation. */
async function observing(): Promise<TestRun> {
  const run = await runOf(explorationProcess)
  run.project.write('docs/experiment.md', 'The plan.')
  run.project.write('evidence/first.md', 'Seen.')
  await run.emit('submit_experiment_plan', { payload: { plan: 'p' }, artifact_paths: ['docs/experiment.md'] })
  await run.emit('submit_observation', { payload: { findings }, artifact_paths: ['evidence/first.md'] })
  return run
}

test('SG-027 SG-028 SG-029 SG-030 SG-031 SG-032 SG-033 SG-034 SG-035 SG-036 SG-039 the specification’s example: evidence is recorded, and the run stays', async () => {
  const { project, id } = await observing()
  project.write('evidence/observation-001.md', 'Five seconds.')
  const answer = await project.call('state_gate_emit_event', {
    run_id: id,
    event_name: 'submit_observation',
    payload: { findings, confidence_level: 'high', compared_with: ['competitor_a', 'competitor_b'] },
    expected_revision: 3,
    idempotency_key: 'obs-2024-01-15-001',
    artifact_paths: ['./evidence/observation-001.md'],
  })
  expect(answer).toEqual({
    success: true,
    result: {
      event_id: expect.stringMatching(/^evt-/),
      accepted: true,
      transition: { from_state: 'observe', to_state: 'observe' },
      new_revision: 4,
      state_changed: false,
      unsatisfied_guards: ['has_sufficient_observations: not enough "observation" (now: 2, needed: 3)'],
      status: 'active',
    },
  })
})

test('SG-032 SG-035 two paths of one event are two observations, and the third takes the run on', async () => {
  const run = await observing()
  run.project.write('evidence/observation-001.md', 'Five seconds.')
  run.project.write('evidence/screenshots/search-test-001.png', 'not really a picture')
  const artifact_paths = ['./evidence/observation-001.md', './evidence/screenshots/search-test-001.png']
  expect(await run.emit('submit_observation', { payload: { findings }, artifact_paths })).toMatchObject({
    transition: { from_state: 'observe', to_state: 'synthesize' },
    new_revision: 4,
    state_changed: true,
    next_events: ['submit_synthesis', 'drop'],
  })
})

test.each(['event_name', 'expected_revision', 'idempotency_key'])(
  'SG-028 SG-030 SG-031 emit_event without its %s is refused by name',
  async (field) => {
    const { project, id } = await runOf(explorationProcess)
    const whole = { run_id: id, event_name: 'drop', expected_revision: 1, idempotency_key: 'k' }
    const input = Object.fromEntries(Object.entries(whole).filter(([name]) => name !== field))
    const failure = await failureOf(project.call('state_gate_emit_event', input))
    expect(failure).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(field) })
  },
)

test('SG-037 SG-038 SG-040 SG-050 REVISION_CONFLICT names both revisions', async () => {
  const run = await observing()
  expect(await run.refused('drop', { expected_revision: 5 })).toMatchObject({
    code: 'REVISION_CONFLICT',
    message: 'Expected revision 5, but current is 3',
    details: { current_revision: 3 },
  })
})

test('SG-037 SG-038 SG-041 SG-052 GUARD_FAILED names every guard with its reason, and the way on', async () => {
  const run = await observing()
  for (const name of ['b', 'c']) run.project.write(`evidence/${name}.md`, name)
  await run.emit('submit_observation', {
    payload: { findings },
    artifact_paths: ['evidence/b.md', 'evidence/c.md'],
  })
  expect(await run.refused('submit_synthesis')).toMatchObject({
    code: 'GUARD_FAILED',
    message: 'Guard conditions not satisfied',
    hint: 'has_synthesis: no "synthesis" was submitted. Attach a file of type "synthesis" to the event.',
    details: {
      current_revision: 4,
      missing_guards: ['has_synthesis: no "synthesis" was submitted'],
    },
  })
})

test('SG-037 SG-038 SG-054 INVALID_PAYLOAD names the path of each mistake', async () => {
  const run = await observing()
  expect(await run.refused('submit_observation', { payload: { findings: 3 } })).toMatchObject({
    code: 'INVALID_PAYLOAD',
    details: {
      validation_errors: [{ path: '/findings', message: 'must be a string, not 3' }],
    },
  })
  expect(await run.refused('submit_observation')).toMatchObject({
    code: 'INVALID_PAYLOAD',
    hint: expect.stringContaining('"findings" is missing.'),
    fix: { operation: 'state_gate_emit_event', input: { payload: { findings: '<findings>' } } },
    details: { validation_errors: [{ path: '/findings', message: 'is missing' }] },
  })
})

test('SG-037 SG-053 INVALID_EVENT says in which state the event is valid, and what this state knows', async () => {
  const run = await observing()
  const failure = await run.refused('submit_synthesis')
  expect(failure).toMatchObject({
    code: 'INVALID_EVENT',
    message:
      'Cannot emit "submit_synthesis" in "observe", only in "synthesize". State "observe" has submit_observation, drop.',
  })
})

test('SG-037 SG-051 FORBIDDEN says whose event it is', async () => {
  const run = await runOf(explorationProcess.replace('initial_state: experiment', 'initial_state: decide'))
  expect(await run.refused('finalize')).toMatchObject({
    code: 'FORBIDDEN',
    message: 'Role "agent" may not emit "finalize"; lead may.',
  })
})

test('SG-056 RUN_NOT_FOUND names the run that is not there', async () => {
  const { project } = await runOf(explorationProcess)
  const run_id = 'run-550e8400-e29b-41d4-a716-446655440000'
  const emitted = { event_name: 'drop', expected_revision: 1, idempotency_key: 'k' }
  const calls = [
    project.call('state_gate_get_state', { run_id }),
    project.call('state_gate_list_events', { run_id }),
    project.call('state_gate_emit_event', { run_id, ...emitted }),
    project.call('run_summary', { run_id }),
  ]
  for (const call of calls) {
    expect(await failureOf(call)).toMatchObject({
      code: 'RUN_NOT_FOUND',
      message: `run not found: ${run_id}`,
      hint: expect.stringContaining('state_gate_list_runs'),
    })
  }
})

test('SG-057 PROCESS_NOT_FOUND names the nearest process', async () => {
  const { project } = await runOf(explorationProcess)
  const create = project.call('state_gate_create_run', { process_id: 'exploration-proces' })
  expect(await failureOf(create)).toMatchObject({
    code: 'PROCESS_NOT_FOUND',
    message: expect.stringContaining('Did you mean "exploration-process"?'),
  })
})

test('SG-060 after a conflict the state is read again, and the event is sent with its revision and a new key', async () => {
  const run = await observing()
  const stale = (await run.state()).revision
  run.project.write('evidence/other.md', 'Seen elsewhere.')
  await run.emit('submit_observation', { payload: { findings }, artifact_paths: ['evidence/other.md'] })
  const sent = { payload: { findings }, artifact_paths: ['evidence/first.md'] }
  const failure = await run.refused('submit_observation', {
    ...sent,
    expected_revision: stale,
    idempotency_key: 'one',
  })
  expect(failure).toMatchObject({
    code: 'REVISION_CONFLICT',
    hint: expect.stringContaining('state_gate_get_state'),
  })
  const { revision } = await run.state()
  const again = { ...sent, expected_revision: revision, idempotency_key: 'two' }
  expect(await run.emit('submit_observation', again)).toMatchObject({ new_revision: revision + 1 })
})
