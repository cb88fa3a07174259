import { type Agent, type Cast, done, planned } from './cast.ts'
import { proposal } from './papers.ts'

/** A change that a person approves before it is made; its acceptance still waits at the end of the day. */
export async function changeUnderControl(cast: Cast, bo: Agent): Promise<void> {
  const { think, ground } = cast
  const run = await bo.call('state_gate_create_run', {
    process_id: 'change-control',
    task_id: planned(cast, 't1'),
  })
  const runId: string = run.run_id
  const event = async (event_name: string, more: object) => {
    const { revision } = await bo.call('state_gate_get_state', { run_id: runId })
    return bo.call('state_gate_emit_event', {
      run_id: runId,
      event_name,
      expected_revision: revision,
      idempotency_key: `${event_name}-${Date.now()}`,
      ...more,
    })
  }
  await think(30)
  ground.main.write('docs/change.md', proposal)
  await event('propose', { payload: { risk: 'low' }, artifact_paths: ['docs/change.md'] })
  await think(50)
  cast.person('approve', runId, 'Small, and undone in a minute. Go ahead.')
  await think(14)
  const task = await bo.call('start_task', {
    planned_task_id: planned(cast, 't1'),
    goal: 'Two agents in one work tree are not blamed for each other',
    areas: ['src/domain/track/attribution.ts', 'src/domain/track/attribution.test.ts'],
    agent_name: 'bo',
  })
  await think(38)
  ground.main.real('13634b4', 'src/domain/track/attribution.ts')
  await bo.call('log_milestone', {
    task_id: task.task_id,
    message: 'Stretches are divided; cases are next',
    progress: 50,
  })
  await think(34)
  ground.main.real('13634b4', 'src/domain/track/attribution.test.ts')
  ground.main.git('add', 'src/domain/track')
  ground.main.git('commit', '--quiet', '-m', 'Attribute changes to the attempts that were open')
  await bo.call('complete_task', {
    ...done(task, 'Each changed file goes to the attempts whose stretches touched it.'),
    metadata: {
      commands_executed: ['vitest run src/domain/track'],
      tests_status: 'passed',
      tokens_input: 71_300,
      tokens_output: 11_900,
    },
  })
  await event('submit_change', {})
}
