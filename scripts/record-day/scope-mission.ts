import { type Agent, type Cast, done, planned } from './cast.ts'
import type { Tree } from './ground.ts'

const scope = 'src/domain/track/scope'

/** A mission that comes to its end: one agent, four tasks, a file outside its areas that a person accepts. */
export async function scopeMission(cast: Cast, ada: Agent, tree: Tree): Promise<void> {
  const { think } = cast
  const mission = await ada.call('start_mission', {
    name: 'Verdicts that can be trusted',
    objective:
      'Every rule by which a changed file is in or out of its areas has a test, and large trees are judged at once.',
    profile: 'standard',
    scope: 'src/domain/track/scope/',
  })
  const begin = (phase: number, phase_name: string, name: string, more: object) =>
    ada.call('start_task', {
      mission_id: mission.mission_id,
      phase,
      phase_name,
      planned_task_id: planned(cast, name),
      agent_name: 'ada',
      caller_type: 'orchestrator',
      ...more,
    })
  await think(12)

  const tests = await begin(1, 'Prove', 's1', { goal: 'Each rule has a case', areas: [`${scope}/`] })
  await think(35)
  tree.real('2de6854', `${scope}/scope.test.ts`, `${scope}/verdict.test.ts`)
  await ada.call('log_milestone', {
    task_id: tests.task_id,
    message: 'Areas and verdicts have their cases',
    progress: 60,
  })
  await think(30)
  tree.real('2de6854', `${scope}/survey.test.ts`, `${scope}/path.ts`)
  tree.commit('Judge changed files against declared areas')
  await ada.call('log_issue', {
    task_id: tests.task_id,
    type: 'bug_encountered',
    description: 'A path with a trailing slash was judged as another one than without.',
    resolution: 'Paths are trimmed before they are compared.',
  })
  await think(10)
  await ada.call('complete_task', {
    ...done(tests, 'Every rule has a case; `path.ts` trims a trailing slash.', {
      achievements: ['Three files of tests for areas, verdicts and the survey'],
    }),
    metadata: {
      commands_executed: ['vitest run src/domain/track/scope'],
      tests_status: 'passed',
      tokens_input: 48_200,
      tokens_output: 9_100,
    },
    phase_complete: true,
  })
  await think(14)

  const words = await begin(2, 'Make it quick', 's2', {
    goal: 'A tree of 100,000 paths in under 100 ms',
    areas: [`${scope}/`],
  })
  await think(18)
  await ada.call('log_decision', {
    task_id: words.task_id,
    category: 'trade_off',
    question: 'How are words found in a path?',
    options_considered: ['split every path into words', 'one expression for each word', 'an index of words'],
    chosen: 'one expression for each word',
    reasoning: 'Splitting costs more than looking, and an index would be built for a handful of words.',
    trade_offs: 'The expression is harder to read than a loop.',
  })
  await think(30)
  tree.real('756b6dc', `${scope}/area.ts`, `${scope}/survey.ts`, `${scope}/words.ts`)
  tree.write('bench/words.ts', bench)
  tree.commit('Find words in paths with one expression each')
  await think(12)
  await ada.call('complete_task', {
    ...done(words, 'Words are found with one expression each: 61 ms for 100,000 paths.', {
      limitations: ['Paths that are not ASCII are four times slower'],
    }),
    metadata: {
      commands_executed: ['node bench/words.ts'],
      tests_status: 'passed',
      tokens_input: 61_000,
      tokens_output: 7_400,
    },
  })
  await think(8)

  const ascii = await begin(2, 'Make it quick', 's3', {
    goal: 'No Unicode class where none is needed',
    areas: [`${scope}/`],
  })
  await think(16)
  const [card] = cast.person('inbox', '--kind', 'scope').items
  cast.person('resolve', card.item_id, 'A benchmark belongs to it. Declare bench/ the next time.')
  await think(20)
  tree.real('779b9c0', `${scope}/area.ts`, `${scope}/path.ts`, `${scope}/words.ts`)
  tree.commit('Look for words in ASCII paths without Unicode classes')
  await think(6)
  await ada.call('complete_task', {
    ...done(ascii, 'ASCII paths take a shorter way: 19 ms.'),
    phase_complete: true,
  })
  await think(9)

  const brackets = await begin(3, 'Mend', 's4', {
    goal: 'Folders of Next.js can be named',
    areas: [`${scope}/area.ts`, `${scope}/scope.test.ts`],
  })
  await think(32)
  tree.real('67e3c51', `${scope}/area.ts`, `${scope}/scope.test.ts`)
  tree.commit('Read brackets in an area as a class of characters or as a name')
  await think(8)
  await ada.call('complete_task', {
    ...done(brackets, '`app/[id]/` is a folder or a class, whichever there is.'),
    phase_complete: true,
  })
  await think(8)
  await ada.call('complete_mission', {
    mission_id: mission.mission_id,
    status: 'completed',
    summary: 'Every rule has a test, and 100,000 paths are judged in 19 ms.',
    achievements: ['Ten times quicker', 'Brackets in areas'],
  })
}

const bench = `import { performance } from 'node:perf_hooks'

/** How long it takes to look for words in the paths of a large tree. */
const paths = Array.from({ length: 100_000 }, (_, at) => \`packages/part-\${at % 400}/src/module-\${at}.ts\`)
const before = performance.now()
const found = paths.filter((path) => /(^|[^a-z])module([^a-z]|$)/i.test(path)).length
console.log(\`\${found} found in \${Math.round(performance.now() - before)} ms\`)
`
