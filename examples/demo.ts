import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import {
  type Agent,
  chapter,
  claims,
  cloneHere,
  connectAgent,
  does,
  note,
  type Scratch,
  showReport,
} from './demo/stage.ts'

/**
 * Two agents work on one mission in a clone of this repository, each with a server process of its own.
 * The story checks itself: it ends with an error if Waymark's record is not what really happened.
 */
const repository = join(import.meta.dirname, '..')
const bin = join(repository, 'bin', 'waymark.js')

const scratch = cloneHere(repository)
try {
  await tell(scratch)
} finally {
  scratch.remove()
}

async function tell(main: Scratch): Promise<void> {
  const ada = await connectAgent('claude-code', { bin, folder: main.folder })
  const side = main.workTree('short-ids')
  const bo = await connectAgent('codex', { bin, folder: side.folder })
  try {
    const missionId = await plan(ada)
    await write(ada, main, missionId)
    await build(bo, side, missionId)
    await decide(ada, main, missionId)
    await finish(ada, missionId)
  } finally {
    await Promise.all([ada.leave(), bo.leave()])
  }
}

async function plan(ada: Agent): Promise<string> {
  chapter('A mission in a clone of this repository, two agents, git as the witness')
  does('Ada (claude-code)', 'starts a mission')
  const mission = await ada.call('start_mission', {
    name: 'Shorter ids',
    objective: 'Ids of eight characters, documented, with the type check still passing',
    profile: 'simple',
  })
  note(`mission ${mission.mission_id}, ${mission.profile}, ${mission.total_phases} phases`)
  return mission.mission_id
}

async function write(ada: Agent, main: Scratch, missionId: string): Promise<void> {
  chapter('Phase 1: say what will change')
  does('Ada', 'starts a task and declares its scope: docs/')
  const task = await ada.call('start_task', {
    mission_id: missionId,
    phase: 1,
    phase_name: 'Plan',
    caller_type: 'orchestrator',
    agent_name: 'ada',
    name: 'Write the note on short ids',
    goal: 'A page that says what changes and why',
    areas: ['docs/'],
  })
  note(
    `snapshot ${task.snapshot_id.slice(0, 12)} (${task.snapshot_type}); docs/ holds ${task.areas[0].files} files`,
  )
  main.write('docs/short-ids.md', '# Short ids\n\nEight characters are enough for one project.\n')
  main.git('add', '.')
  main.git('commit', '--quiet', '-m', 'Say what short ids are')
  main.append('docs/short-ids.md', '\nOld ids stay valid.\n')
  await ada.call('log_decision', {
    task_id: task.task_id,
    category: 'trade_off',
    question: 'How short may an id be?',
    options_considered: ['6', '8', '12'],
    chosen: '8',
    reasoning: 'Forty bits: no collision among the ids of one project.',
  })
  does('Ada', 'commits a page, edits it once more, and completes the task')
  const report = await ada.call('complete_task', {
    task_id: task.task_id,
    status: 'success',
    outcome: { summary: 'Wrote docs/short-ids.md.' },
    phase_complete: true,
  })
  claims('Ada', 'Wrote docs/short-ids.md.')
  showReport(report)
  assert.deepEqual(report.files_changed.added, ['docs/short-ids.md'])
  assert.deepEqual([report.measurement, report.verification.scope_match], ['exact', true])
}

async function build(bo: Agent, side: Scratch, missionId: string): Promise<void> {
  chapter('Phase 2: build it, in a work tree of its own')
  does('Bo (codex)', 'starts a task with the scope src/store/')
  const task = await bo.call('start_task', {
    mission_id: missionId,
    phase: 2,
    phase_name: 'Build',
    caller_type: 'subagent',
    agent_name: 'bo',
    name: 'Make ids of eight characters',
    goal: 'random-ids makes eight characters',
    areas: ['src/store/'],
  })
  await bo.call('log_milestone', { task_id: task.task_id, message: 'Renaming the module', progress: 40 })
  side.git('mv', 'src/store/random-ids.ts', 'src/store/short-ids.ts')
  side.append('src/store/short-ids.ts', '\nexport const idLength = 8\n')
  side.git('commit', '--quiet', '-am', 'Rename the module')
  does('Bo', 'renames a module, commits, and also edits a file that nobody asked for')
  side.append('bin/waymark.js', '\n// a shortcut\n')
  const report = await bo.call('complete_task', {
    task_id: task.task_id,
    status: 'success',
    outcome: { summary: 'Only touched the storage folder.' },
  })
  claims('Bo', 'Only touched the storage folder.')
  showReport(report)
  assert.deepEqual(report.files_changed.renamed, [
    { from: 'src/store/random-ids.ts', to: 'src/store/short-ids.ts' },
  ])
  assert.deepEqual(report.verification.unexpected_files, ['bin/waymark.js'])
}

async function decide(ada: Agent, main: Scratch, missionId: string): Promise<void> {
  chapter('What waits for a person')
  const inbox = waymark(main, 'inbox', '--format', 'text')
  console.log(inbox.trimEnd())
  const { items } = JSON.parse(waymark(main, 'inbox', '--format', 'json'))
  assert.equal(items.length, 1)
  does('A person', 'accepts the edit')
  waymark(main, 'approve', items[0].item_id)
  const context = await ada.call('get_context', {
    mission_id: missionId,
    include: ['phase_summary', 'decisions', 'blockers'],
  })
  note(
    `get_context tells the next agent: ${context.mission_status}, phase ${context.current_phase} of ${context.total_phases}`,
  )
  assert.equal(context.decisions.length, 1)
}

async function finish(ada: Agent, missionId: string): Promise<void> {
  does('Ada', 'completes the mission')
  const { metrics } = await ada.call('complete_mission', {
    mission_id: missionId,
    status: 'completed',
    summary: 'Ids have eight characters.',
  })
  note(`${metrics.total_tasks} tasks, ${metrics.files_changed} files changed, measured`)
  assert.equal(metrics.files_changed, 3)
  console.log('\nThe record is what happened. Next: npx node bin/waymark.js --help')
}

function waymark(main: Scratch, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [bin, ...args], {
    cwd: main.folder,
    encoding: 'utf8',
    env: asPerson(),
  })
}

/** The person of the story: this shell, even where an agent runs the demo. */
function asPerson(): NodeJS.ProcessEnv {
  const marks = ['CLAUDECODE', 'CURSOR_AGENT', 'CODEX_SANDBOX', 'GEMINI_CLI']
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !marks.includes(name) && !/^(WAYMARK|TASKMAN|GIT)_/.test(name),
    ),
  )
}
