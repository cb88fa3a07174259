import { type Cast, done, planned } from './cast.ts'
import type { Agent } from './client.ts'
import type { GatedMission } from './gated-mission.ts'

const plan = 'src/domain/plan'

/** Ready work is ordered; the agent is still at what comes next when the day ends. */
export async function orderWork(cast: Cast, cleo: Agent, { begin }: GatedMission): Promise<void> {
  const { think, ground } = cast
  const { main } = ground
  const ready = await begin(2, 'Build', {
    planned_task_id: planned(cast, 'p3'),
    goal: 'The task that the longest chain waits for comes first',
    areas: ['src/domain/plan/'],
  })
  await think(34)
  main.real(
    '50a9a25',
    `${plan}/chains.ts`,
    `${plan}/chains.test.ts`,
    `${plan}/task-graph.ts`,
    `${plan}/work-order.ts`,
  )
  await cleo.call('log_decision', {
    task_id: ready.task_id,
    category: 'architecture',
    question: 'What makes a task come before another?',
    options_considered: [
      'when it was planned',
      'how many tasks wait for it',
      'the longest chain that waits for it',
    ],
    chosen: 'the longest chain that waits for it',
    reasoning: 'The chain decides when everything is done; the number of tasks that wait does not.',
  })
  await think(26)
  main.real('50a9a25', `${plan}/ready.ts`, `${plan}/ready.test.ts`)
  main.git('add', 'src')
  main.git('commit', '--quiet', '-m', 'Order the plan: ready work, critical path, next task')
  await cleo.call('complete_task', {
    ...done(ready, 'Ready work goes by the longest chain; 1,000 tasks are ordered in 3 ms.'),
    metadata: {
      commands_executed: ['vitest run src/domain/plan'],
      tests_status: 'passed',
      tokens_input: 92_000,
      tokens_output: 14_800,
    },
  })
  await think(10)
  const edges = await begin(3, 'Refine', {
    planned_task_id: planned(cast, 'p4'),
    goal: 'A finished plan costs nothing',
    areas: ['src/domain/plan/'],
  })
  await think(18)
  main.real('ec60b8f', `${plan}/task-graph.ts`)
  await cleo.call('log_milestone', {
    task_id: edges.task_id,
    message: 'Edges of finished tasks are left out; ready work is next',
    progress: 55,
  })
}
