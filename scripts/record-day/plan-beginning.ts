import { type Cast, done, planned } from './cast.ts'
import type { Agent } from './client.ts'
import type { GatedMission } from './gated-mission.ts'
import { exploration, planText } from './papers.ts'

const plan = 'src/domain/plan'

/** What is there is read, and what will change is written down: refused until it is. */
export async function explore(cast: Cast, cleo: Agent, { begin, event }: GatedMission): Promise<void> {
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

export async function nameHappenings(cast: Cast, cleo: Agent, { begin }: GatedMission): Promise<void> {
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
