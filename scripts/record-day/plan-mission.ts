import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '../../test/support/project.ts'
import { type Agent, type Cast, done, planned } from './cast.ts'
import { exploration, planText, results, testFile } from './papers.ts'

/** A mission gated by a process: explored, planned, built, refused, reworked; its tests are run by the server. */
export async function planMission(
  cast: Cast,
  cleo: Agent,
  meanwhile: (missionId: string) => void,
): Promise<void> {
  const mission = await startGated(cleo, 'cleo', {
    name: 'Plans with dependencies',
    objective: 'A plan knows what is ready, what waits for what, and which chain is the longest.',
    profile: 'complex',
    scope: 'src/domain/plan/, test/',
    process_id: 'feature',
    process_context: { request: 'plans with dependencies' },
  })
  await explore(cast, cleo, mission)
  await nameHappenings(cast, cleo, mission)
  meanwhile(mission.id)
  await cast.think(12)
  await findCircles(cast, cleo, mission)
  await passAtLast(cast, cleo, mission)
  await orderWork(cast, cleo, mission)
}

const plan = 'src/domain/plan'

/** What is there is read, and what will change is written down: refused until it is. */
async function explore(cast: Cast, cleo: Agent, { begin, event }: GatedMission): Promise<void> {
  const { think, ground } = cast
  const { main } = ground
  const look = await begin(1, 'Explore', {
    name: 'Read what is there',
    goal: 'Know which types a plan touches',
    areas: ['docs/change/'],
  })
  await think(28)
  main.write('docs/change/exploration.md', exploration)
  await event('call', 'submit_exploration', { artifact_paths: ['docs/change/exploration.md'] })
  await think(20)
  await event('refused', 'submit_plan', { payload: { summary: 'ids, happenings, cycles, ready work' } })
  await think(10)
  main.write('docs/change/plan.md', planText)
  await event('call', 'submit_plan', {
    payload: { summary: 'ids and happenings first, then cycles, then ready work' },
    artifact_paths: ['docs/change/plan.md'],
  })
  await cleo.call('complete_task', {
    ...done(look, 'Wrote docs/change/exploration.md and docs/change/plan.md.'),
    phase_complete: true,
  })
  await think(9)
}

async function nameHappenings(cast: Cast, cleo: Agent, { begin }: GatedMission): Promise<void> {
  const { think, ground } = cast
  const { main } = ground
  const names = await begin(2, 'Build', {
    planned_task_id: planned(cast, 'p1'),
    goal: 'Types alone, no behaviour',
    areas: ['src/domain/plan/', 'src/domain/id.ts'],
  })
  await think(22)
  await cleo.call('log_decision', {
    task_id: names.task_id,
    category: 'architecture',
    question: 'Where is the status of a task kept?',
    options_considered: ['with the task', 'derived from its attempts', 'both, compared at every read'],
    chosen: 'with the task',
    reasoning: 'A planned task has no attempt yet, and lists of a thousand tasks are read all the time.',
    trade_offs: 'Completing an attempt writes two rows.',
  })
  main.real('3f47ec4', 'src/domain/id.ts', `${plan}/happening.ts`, `${plan}/plan.ts`)
  await think(14)
  main.git('add', 'src')
  main.git('commit', '--quiet', '-m', 'Name what can happen to a plan')
  await cleo.call(
    'complete_task',
    done(names, 'Named happenings and rows in `src/domain/plan/plan.ts`; nothing behaves yet.'),
  )
}

const orderPlan = 'src/domain/plan'

/** Ready work is ordered; the agent is still at what comes next when the day ends. */
async function orderWork(cast: Cast, cleo: Agent, { begin }: GatedMission): Promise<void> {
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
    `${orderPlan}/chains.ts`,
    `${orderPlan}/chains.test.ts`,
    `${orderPlan}/task-graph.ts`,
    `${orderPlan}/work-order.ts`,
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
  main.real('50a9a25', `${orderPlan}/ready.ts`, `${orderPlan}/ready.test.ts`)
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
  const machines = await begin(3, 'Refine', {
    planned_task_id: planned(cast, 'p4'),
    goal: 'A finished plan costs nothing',
    areas: ['src/domain/plan/'],
  })
  await think(18)
  main.real('ec60b8f', `${orderPlan}/task-graph.ts`)
  await cleo.call('log_milestone', {
    task_id: machines.task_id,
    message: 'Edges of finished tasks are left out; ready work is next',
    progress: 55,
  })
}

const circlesPlan = 'src/domain/plan'

/** Circles are found, all but one; the agent claims a file and a package that nobody finds. */
async function findCircles(cast: Cast, cleo: Agent, { begin, event }: GatedMission): Promise<void> {
  const { think, ground } = cast
  const { main } = ground
  const circles = await begin(2, 'Build', {
    planned_task_id: planned(cast, 'p2'),
    goal: 'The shortest circle, as a person reads it',
    areas: ['src/domain/plan/', 'test/'],
  })
  await think(26)
  main.real('50a9a25', `${circlesPlan}/cycle.ts`, `${circlesPlan}/cycle.test.ts`)
  main.write(`${circlesPlan}/cycle.ts`, forgetful(main.folder))
  main.write('test/plan.test.ts', testFile)
  await cleo.call('log_milestone', {
    task_id: circles.task_id,
    message: 'Circles of two and more are found',
    progress: 80,
  })
  await think(16)
  main.git('add', 'src', 'test')
  main.git('commit', '--quiet', '-m', 'Find circles among dependencies')
  await cleo.call('complete_task', {
    ...done(
      circles,
      'The shortest circle is found. Covered by `test/plan.test.ts` and `src/domain/plan/cycle.bench.ts`.',
      {
        achievements: ['Breadth first, so the circle that is told is the shortest'],
      },
    ),
    metadata: { packages_added: ['fast-check'], commands_executed: ['node --test'], tests_status: 'passed' },
  })
  await event('call', 'submit_change', {})
  await think(12)
}

/** The server runs the tests, once a person lets it: they fail, the agent corrects itself, and a blocker is still in the way. */
async function passAtLast(cast: Cast, cleo: Agent, { begin, event }: GatedMission): Promise<void> {
  const { think, ground } = cast
  const { main } = ground
  main.write('docs/change/results.md', results('0 of 3 failed, I believe'))
  await event('refused', 'pass', { artifact_paths: ['docs/change/results.md'] })
  await think(24)
  for (const card of cast.person('inbox', '--kind', 'command').items) cast.person('approve', card.item_id)
  await think(8)
  await event('refused', 'pass', { artifact_paths: ['docs/change/results.md'] })
  await think(6)
  await event('call', 'fail', { payload: { failure: 'A task that waits for itself is not refused' } })
  const mend = await begin(2, 'Build', {
    name: 'Refuse a task that waits for itself',
    goal: 'What the test found',
    areas: [`${circlesPlan}/cycle.ts`],
  })
  await think(20)
  main.real('50a9a25', `${circlesPlan}/cycle.ts`)
  main.git('commit', '--quiet', '-am', 'A task that waits for itself is a circle of one')
  await cleo.call('complete_task', done(mend, 'A circle of one is a circle.'))
  await event('call', 'submit_change', {})
  await think(10)
  main.write('docs/change/results.md', results('3 passed'))
  await event('refused', 'pass', { artifact_paths: ['docs/change/results.md'] })
  await think(10)
}

/** The mistake of the day: a task that waits for itself is no circle. */
function forgetful(folder: string): string {
  return readFileSync(join(folder, circlesPlan, 'cycle.ts'), 'utf8').replace(
    '  if (from === to) return [from, to]\n',
    '',
  )
}

/** A mission with a run that gates it, as its leader works on it. */
export interface GatedMission {
  readonly id: string
  readonly begin: (phase: number, phaseName: string, more: object) => Promise<Answer>
  /** Emits an event, which is accepted or refused as the day means it to be. */
  readonly event: (tell: 'call' | 'refused', name: string, more: object) => Promise<Answer>
}

async function startGated(leader: Agent, agentName: string, request: object): Promise<GatedMission> {
  const { mission_id, run } = await leader.call('start_mission', request)
  let round = 0
  return {
    id: mission_id,
    begin: (phase, phase_name, more) =>
      leader.call('start_task', {
        mission_id,
        phase,
        phase_name,
        agent_name: agentName,
        caller_type: 'orchestrator',
        ...more,
      }),
    event: async (tell, event_name, more) => {
      const { revision } = await leader.call('state_gate_get_state', { run_id: run.run_id })
      round += 1
      return leader[tell]('state_gate_emit_event', {
        run_id: run.run_id,
        event_name,
        expected_revision: revision,
        idempotency_key: `${event_name}-${round}-${Date.now()}`,
        ...more,
      })
    },
  }
}
