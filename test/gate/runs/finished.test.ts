import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { explorationProcess } from './processes.ts'
import { failureOf, runOf } from './run.ts'

test('a cancelled run takes no event of anybody, in whatever state it was', async () => {
  const run = await runOf(explorationProcess)
  const { project, id } = run
  await project.call('run_cancel', { run_id: id, reason: 'Not needed.' }, { actor: person })
  const cancelled = 'The run is finished: it was canceled in "experiment".'
  expect(await run.refused('drop')).toMatchObject({ code: 'RUN_FINISHED', message: cancelled })
  const decision = project.call('decide', { run_id: id, event: 'drop' }, { actor: person })
  expect(await failureOf(decision)).toMatchObject({ code: 'RUN_FINISHED', message: cancelled })
  expect(await run.state()).toMatchObject({
    status: 'cancelled',
    current_state: 'experiment',
    revision: 2,
    allowed_events: [],
    missing_guards: [],
  })
  expect((await run.events(true))['drop']).toMatchObject({ is_allowed: false, blocked_reason: cancelled })
  const { progress } = await project.call('run_summary', { run_id: id })
  expect(progress).toMatchObject({ remaining_states: [], fewest_steps_to_end: null })
})

test('a run in a final state takes no event, whatever its revision and its payload', async () => {
  const run = await runOf(explorationProcess)
  await run.emit('drop')
  const attempts = [{}, { expected_revision: 9 }, { payload: { plan: 3 } }, { artifact_paths: ['../x'] }]
  for (const attempt of attempts) {
    expect(await run.refused('submit_experiment_plan', attempt)).toMatchObject({
      code: 'RUN_FINISHED',
      message: 'The run is finished: "dropped" is a final state.',
      hint: expect.stringContaining('state_gate_create_run'),
    })
  }
  expect(await run.state()).toMatchObject({ revision: 2, status: 'failed' })
})

test('nothing can be decided about a run that has ended', async () => {
  const run = await runOf(explorationProcess.replace('initial_state: experiment', 'initial_state: decide'))
  await run.emit('drop')
  for (const verb of ['approve', 'reject']) {
    expect(await failureOf(run.project.call(verb, { id: run.id }, { actor: person }))).toMatchObject({
      code: 'RUN_FINISHED',
      message: `Run ${run.id} has ended (failed) in "dropped". It cannot be decided.`,
    })
  }
})
