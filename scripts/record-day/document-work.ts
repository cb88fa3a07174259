import { type Agent, type Cast, done, planned } from './cast.ts'
import type { Tree } from './ground.ts'

const folder = 'src/domain/plan'

/** Beside the one who leads the mission, in a work tree of his own: documents, a question that waits, the outline. */
export async function documentWork(
  cast: Cast,
  dai: Agent,
  { tree, missionId }: { readonly tree: Tree; readonly missionId: string },
): Promise<void> {
  const { think } = cast
  tree.git('merge', '--quiet', '--no-edit', 'main')
  const begin = (phase: number, phase_name: string, more: object) =>
    dai.call('start_task', {
      mission_id: missionId,
      phase,
      phase_name,
      agent_name: 'dai',
      caller_type: 'subagent',
      ...more,
    })
  await think(15)
  const document = await begin(2, 'Build', {
    planned_task_id: planned(cast, 'p7'),
    goal: 'One shape between all formats',
    areas: [`${folder}/document/`],
  })
  await think(40)
  tree.real('211eb61', `${folder}/document/plan-document.ts`)
  await dai.call('log_milestone', {
    task_id: document.task_id,
    message: 'Phases, milestones and tasks have their shape',
    progress: 70,
  })
  await think(22)
  tree.commit('Describe a plan as a neutral document')
  await dai.call('complete_task', {
    ...done(document, 'The document is described; formats read and write it.', {
      next_steps: ['Name everything that is wrong with one'],
    }),
    metadata: { tests_status: 'not_run', tokens_input: 30_500, tokens_output: 4_200 },
  })
  await think(14)

  const problems = await begin(2, 'Build', {
    planned_task_id: planned(cast, 'p8'),
    goal: 'Each mistake with its place, all at once',
    areas: [`${folder}/document/`],
  })
  await think(30)
  tree.real('211eb61', `${folder}/document/document-problems.ts`)
  await dai.call('log_issue', {
    task_id: problems.task_id,
    type: 'unclear_requirement',
    description: 'Is a task that depends on a dropped one ready, or blocked for good?',
    resolution: 'Counted as ready until somebody says otherwise.',
    requires_human_review: true,
  })
  await think(45)
  const [card] = cast.person('inbox', '--kind', 'blocker').items
  cast.person('resolve', card.item_id, 'Ready: whoever drops a task has decided that it is not needed.')
  await think(20)
  tree.real('211eb61', `${folder}/document/every-cycle.ts`, `${folder}/document/document-problems.test.ts`)
  tree.write(
    'package.json',
    tree
      .git('show', 'HEAD:package.json')
      .replace('"dependencies"', '"devDependencies": {\n    "fast-check": "4.10.2"\n  },\n  "dependencies"'),
  )
  tree.commit('Name everything that is wrong with a document')
  await dai.call('complete_task', {
    task_id: problems.task_id,
    status: 'partial_success',
    outcome: {
      summary: 'Every mistake of a document is named at once.',
      achievements: ['Circles, unknown keys and twins are found in one pass'],
      limitations: ['Dates that cannot be are not looked at'],
      manual_review_needed: true,
      manual_review_reason: 'Are impossible dates worth an error, or a warning?',
    },
    metadata: {
      packages_added: ['fast-check'],
      commands_executed: ['vitest run src/domain/plan/document'],
      tests_status: 'passed',
    },
  })
  await think(16)

  const outline = await begin(3, 'Refine', {
    name: 'Read plans of other programs',
    goal: 'Taskmaster and Backlog can be brought along',
    areas: ['src/imports/'],
  })
  await think(25)
  await dai.call('log_issue', {
    task_id: outline.task_id,
    type: 'dependency_conflict',
    description:
      'Backlog files hold dates without a zone. Take them as UTC, or as the zone of the machine that imports?',
    resolution: 'Took them as UTC for now.',
    requires_human_review: true,
  })
  await think(12)
  tree.write('src/plans/fields.ts', instantText)
  await dai.call('log_milestone', {
    task_id: outline.task_id,
    message: 'Dates are read; statuses are next',
    progress: 35,
  })
}

const instantText = `/** Milliseconds since the epoch of a date in a foreign file; without a zone it is UTC. Null where it is no date. */
export function instantOf(text: string): number | null {
  const zoned = /(Z|[+-]\\d\\d:?\\d\\d)$/.test(text) ? text : \`\${text.replace(' ', 'T')}Z\`
  const at = Date.parse(zoned)
  return Number.isNaN(at) ? null : at
}
`
