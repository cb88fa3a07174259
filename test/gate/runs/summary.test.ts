import { expect, test } from 'vitest'
import { explorationProcess } from './processes.ts'
import { runOf } from './run.ts'

test('SG-043 SG-044 SG-045 the summary tells the process, the states behind the run and those ahead', async () => {
  const run = await runOf(explorationProcess)
  run.project.write('docs/experiment.md', 'The plan.')
  run.project.wait(1_000)
  await run.emit('submit_experiment_plan', { payload: { plan: 'p' }, artifact_paths: ['docs/experiment.md'] })
  const summary = await run.project.call('run_summary', { run_id: run.id })
  expect(summary).toMatchObject({
    run_id: run.id,
    process: { id: 'exploration-process', version: '1.0.0', name: '探索プロセス' },
    current_state: 'observe',
    revision: 2,
    progress: {
      completed_states: ['experiment'],
      current_state: 'observe',
      remaining_states: expect.arrayContaining(['synthesize', 'decide', 'answered', 'dropped']),
      fewest_steps_to_end: 1,
    },
  })
  expect(Date.parse(summary.updated_at)).toBeGreaterThan(Date.parse(summary.created_at))
})
