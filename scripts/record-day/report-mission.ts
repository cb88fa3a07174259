import { type Agent, type Cast, done, planned } from './cast.ts'
import type { Tree } from './ground.ts'
import { reportScript } from './papers.ts'

/** A mission that fails: reports out of a template; then the same agent begins anew, as the plan has it. */
export async function reportMission(cast: Cast, eli: Agent, tree: Tree): Promise<void> {
  const { think } = cast
  const mission = await eli.call('start_mission', {
    name: 'Reports from a template',
    objective: 'Whoever completes a task gets a page that says what it changed.',
    profile: 'simple',
    scope: 'scripts/, docs/',
  })
  const begin = (more: object) =>
    eli.call('start_task', {
      mission_id: mission.mission_id,
      phase: 1,
      phase_name: 'Try',
      agent_name: 'eli',
      ...more,
    })
  await think(10)
  const draft = await begin({
    name: 'Make the draft a template',
    goal: 'A page with holes',
    areas: ['docs/'],
  })
  await think(26)
  tree.git('mv', 'docs/notes/reports-draft.md', 'docs/report.template.md')
  tree.append('docs/report.template.md', '\n{{changes}}\n')
  tree.commit('Make the draft a template')
  await think(8)
  await eli.call(
    'complete_task',
    done(draft, 'Renamed the draft to `docs/report.template.md`, with a hole for the changes.'),
  )
  await think(12)

  const fill = await begin({
    name: 'Fill the template',
    goal: 'A report without a server',
    areas: ['scripts/'],
  })
  await think(34)
  tree.write('scripts/report.mjs', reportScript)
  await eli.call('log_issue', {
    task_id: fill.task_id,
    type: 'bug_encountered',
    description:
      'The last commit is not what the task changed: work of others is in it, and what is not committed is missing.',
    resolution: 'None. A script after the log entry cannot know what was there before.',
  })
  await think(22)
  await eli.call('complete_task', {
    task_id: fill.task_id,
    status: 'failed',
    outcome: {
      summary: 'The report names files that the task never touched.',
      limitations: ['It needs a snapshot from before the task'],
    },
    metadata: { commands_executed: ['node scripts/report.mjs'], tests_status: 'failed' },
  })
  await think(10)
  const prune = await begin({
    name: 'Take it back',
    goal: 'Nothing is left of it',
    areas: ['scripts/', 'docs/'],
  })
  await think(14)
  tree.git('rm', '--quiet', '--force', '--ignore-unmatch', 'docs/report.template.md')
  tree.git('clean', '--quiet', '--force', '-d', 'scripts')
  tree.commit('Take the template back')
  await eli.call('complete_task', done(prune, 'The template and the script are deleted.'))
  await think(6)
  await eli.call('complete_mission', {
    mission_id: mission.mission_id,
    status: 'failed',
    summary: 'A report needs two snapshots; a script that looks afterwards has one.',
    limitations: ['Work of others cannot be told apart'],
  })
  await think(30)

  const report = await eli.call('start_task', {
    planned_task_id: planned(cast, 't3'),
    goal: 'From two snapshots, nothing else',
    areas: ['src/domain/track/'],
    agent_name: 'eli',
  })
  await think(50)
  tree.real('c50b4a0', 'src/domain/track/changes.ts')
  await eli.call('log_decision', {
    task_id: report.task_id,
    category: 'architecture',
    question: 'What is a report made of?',
    options_considered: ['commits since the start', 'two snapshots', 'what the agent lists'],
    chosen: 'two snapshots',
    reasoning: 'Commits leave out what is not committed, and a list is only a claim.',
  })
  await think(60)
  tree.real('c50b4a0', 'src/domain/track/completion-report.ts')
  await eli.call('log_milestone', {
    task_id: report.task_id,
    message: 'The report is complete; its cases are missing',
    progress: 75,
  })
}
