import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { explorationProcess } from './processes.ts'
import { runOf, type TestRun } from './run.ts'

/** The specification's run in observe, where one of three observations was handed in. */
async function observing(): Promise<TestRun> {
  const run = await runOf(explorationProcess)
  run.project.write('docs/experiment.md', 'The plan.')
  run.project.write('evidence/observation-001.md', 'Seen.')
  await run.emit('submit_experiment_plan', { payload: { plan: 'p' }, artifact_paths: ['docs/experiment.md'] })
  await run.emit('submit_observation', {
    payload: { findings: 'f' },
    artifact_paths: ['evidence/observation-001.md'],
  })
  return run
}

test('SG-014 SG-016 SG-017 SG-018 SG-019 SG-020 SG-021 SG-022 SG-023 SG-024 the specification’s example: a blocked guard does not block trying', async () => {
  const run = await observing()
  const input = { run_id: run.id }
  expect(await run.project.call('state_gate_list_events', input)).toEqual({
    run_id: run.id,
    current_state: 'observe',
    revision: 3,
    events: [
      {
        event_name: 'submit_observation',
        description: '観察結果を提出',
        allowed_roles: ['agent'],
        payload_schema: {
          type: 'object',
          required: ['findings'],
          properties: { findings: { type: 'string' } },
        },
        transitions: [
          {
            to_state: 'synthesize',
            guard: 'has_sufficient_observations',
            guard_status: 'unsatisfied',
            missing_requirements: [
              'has_sufficient_observations: not enough "observation" (now: 1, needed: 3)',
            ],
          },
        ],
        would_transition_to: null,
        is_allowed: true,
        blocked_reason: null,
      },
      {
        event_name: 'drop',
        description: '',
        allowed_roles: ['*'],
        transitions: [{ to_state: 'dropped', guard_status: 'no_guard' }],
        would_transition_to: 'dropped',
        is_allowed: true,
        blocked_reason: null,
      },
    ],
  })
})

test('SG-015 SG-025 include_blocked adds the events of other states, and says where they can be emitted', async () => {
  const run = await observing()
  const events = await run.events(true)
  expect(Object.keys(events)).toEqual([
    'submit_experiment_plan',
    'submit_observation',
    'submit_synthesis',
    'finalize',
    'drop',
  ])
  expect(events['submit_synthesis']).toMatchObject({
    is_allowed: false,
    would_transition_to: null,
    blocked_reason: 'Cannot be emitted in "observe", only in synthesize.',
    transitions: [{ to_state: 'decide', guard: 'has_synthesis', guard_status: 'unsatisfied' }],
  })
})

test('SG-015 include_blocked adds the events of other roles, and says whose they are', async () => {
  const run = await observing()
  for (const name of ['b', 'c']) run.project.write(`evidence/${name}.md`, name)
  await run.emit('submit_observation', {
    payload: { findings: 'f' },
    artifact_paths: ['evidence/b.md', 'evidence/c.md'],
  })
  run.project.write('docs/synthesis.md', 'It means.')
  await run.emit('submit_synthesis', { artifact_paths: ['docs/synthesis.md'] })
  expect(Object.keys(await run.events())).toEqual(['drop'])
  expect((await run.events(true))['finalize']).toMatchObject({
    is_allowed: false,
    blocked_reason: 'Role "agent" may not emit "finalize"; lead may.',
  })
  expect((await run.events(false, person))['finalize']).toMatchObject({
    is_allowed: true,
    would_transition_to: 'answered',
  })
})

test('SG-020 a guard that holds is told as satisfied, and where the event leads', async () => {
  const text = explorationProcess.replace('min_count: 3', 'min_count: 1')
  const run = await runOf(text)
  run.project.write('docs/experiment.md', 'The plan.')
  run.project.write('evidence/a.md', 'Seen.')
  await run.emit('submit_experiment_plan', {
    payload: { plan: 'p' },
    artifact_paths: ['docs/experiment.md', 'evidence/a.md'],
  })
  expect((await run.events())['submit_observation']).toMatchObject({
    would_transition_to: 'synthesize',
    transitions: [{ guard_status: 'satisfied' }],
  })
})

test('a finished run blocks every event with its reason', async () => {
  const run = await observing()
  await run.emit('drop')
  expect(await run.events()).toEqual({})
  const reasons = Object.values(await run.events(true)).map(({ blocked_reason }) => blocked_reason)
  expect(new Set(reasons)).toEqual(new Set(['The run is finished: "dropped" is a final state.']))
})
