import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cast, done, planned } from './cast.ts'
import type { Agent } from './client.ts'
import type { GatedMission } from './gated-mission.ts'
import { results, testFile } from './papers.ts'

const plan = 'src/domain/plan'

/** Circles are found, all but one; the agent claims a file and a package that nobody finds. */
export async function findCircles(cast: Cast, cleo: Agent, { begin, event }: GatedMission): Promise<void> {
  const { think, ground } = cast
  const { main } = ground
  const circles = await begin(2, 'Build', {
    planned_task_id: planned(cast, 'p2'),
    goal: 'The shortest circle, as a person reads it',
    areas: ['src/domain/plan/', 'test/'],
  })
  await think(26)
  main.real('50a9a25', `${plan}/cycle.ts`, `${plan}/cycle.test.ts`)
  main.write(`${plan}/cycle.ts`, forgetful(main.folder))
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
export async function passAtLast(cast: Cast, cleo: Agent, { begin, event }: GatedMission): Promise<void> {
  const { think, ground } = cast
  const { main } = ground
  main.write('docs/change/results.md', results('0 of 3 failed, I believe'))
  await event('refused', 'pass', { artifact_paths: ['docs/change/results.md'] })
  await think(24)
  for (const card of cast.person('inbox', '--kind', 'command').holds) cast.person('approve', card.hold_id)
  await think(8)
  await event('refused', 'pass', { artifact_paths: ['docs/change/results.md'] })
  await think(6)
  await event('call', 'fail', { payload: { failure: 'A task that waits for itself is not refused' } })
  const mend = await begin(2, 'Build', {
    name: 'Refuse a task that waits for itself',
    goal: 'What the test found',
    areas: [`${plan}/cycle.ts`],
  })
  await think(20)
  main.real('50a9a25', `${plan}/cycle.ts`)
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
  return readFileSync(join(folder, plan, 'cycle.ts'), 'utf8').replace(
    '  if (from === to) return [from, to]\n',
    '',
  )
}
