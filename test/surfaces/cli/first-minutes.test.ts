import { expect, test } from 'vitest'
import { type CommandLineProject, type Entry, openCommandLine, startWork } from './command-line.ts'
import { spoken } from './spoken.ts'

test.each(['edge told', 'machine ingest', 'plan dependencies'])(
  'what only a screen asks is no command: %s',
  async (command) => {
    const { code, error } = await spoken(command.split(' '))
    expect(code).toBe(2)
    expect(error).toMatch(/^waymark: There is no command/)
  },
)

test('an empty project says what to do first', async () => {
  const project = openCommandLine()
  const { out } = await spoken(['status'], project)
  expect(out).toMatch(/First steps[\s\S]*waymark import plan\.md[\s\S]*waymark open/)
  expect(project.run('init', '--clients', 'claude', '--yes').code).toBe(0)
  const afterSetup = project.run('status', '--format', 'text').out
  expect(afterSetup).toMatch(/First steps\n +Say to your agent/)
  expect(afterSetup).not.toContain('waymark init')
  startWork(project)
  expect((await spoken(['status'], project)).out).not.toContain('First steps')
  for (const list of ['task', 'phase', 'milestone']) {
    const empty = openCommandLine({ git: false })
    expect(empty.run(list, 'list', '--format', 'text')).toMatchObject({
      code: 0,
      out: `There are no ${list}s to show.\n`,
    })
  }
})

test('no command prints a raw table: board, timeline, settings, files of a mission', async () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  project.write('src/new.ts', 'export const made = 1\n')
  project.write('outside.ts', 'export const made = 1\n')
  const progress = ['progress', 'log', '--message', 'Half of it', '--task-id', taskId]
  expect(project.run(...progress).code).toBe(0)
  const board = (await spoken(['board'], project)).out
  expect(board).toMatch(/In progress \(1\)\n[\s\S]*Add the form +/)
  completed(project, taskId)
  expect((await spoken(['board'], project)).out).toMatch(/Add the form +(?:un)?proven/)
  const timeline = (await spoken(['mission', 'timeline', missionId], project)).out
  expect(timeline).toMatch(/tasks +1 of 1 done \(needs you: 1\)/)
  expect(timeline).toMatch(/Add the form [\s\S]*2 files/)
  expect(timeline).toMatch(/progress .*Half of it/)
  expect((await spoken(['setting', 'list'], project)).out).toMatch(/^hook_out_of_scope: ask\n {2}What hooks/m)
  const files = (await spoken(['mission', 'changes', missionId], project)).out
  expect(files).toMatch(/^2 files changed in m-\w+, 1 outside the declared scope/)
  for (const text of [board, timeline, files]) expect(text).not.toMatch(/[{[]"|"[}\]]|_name\b/)
})

test('the verdict says how many of how many', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  project.write('src/new.ts', 'export const made = 1\n')
  project.write('outside.ts', 'export const made = 1\n')
  completed(project, taskId)
  const { out } = await spoken(['show', taskId], project)
  expect(out).toContain('Out of scope: 1 of 2 files')
})

test('a task that was dropped looks dropped', async () => {
  const project = openCommandLine()
  const [kept, gone] = planned(project)
  expect(project.run('task', 'drop', gone, 'Not wanted').code).toBe(0)
  const plan = (await spoken(['plan', 'show'], project)).out
  expect(plan).toContain('1 task, 0 done, 1 ready, 1 dropped')
  expect(plan).toMatch(new RegExp(`✗ +Second +${gone}`))
  expect(plan).toMatch(new RegExp(`○ [ !] First +${kept}`))
  expect(plan).toMatch(/Design {2}0\/1 done {2}P1/)
  for (const words of [
    ['show', gone],
    ['task', 'get', gone],
    ['task', 'list'],
  ])
    expect((await spoken(words, project)).out).toContain('dropped')
  expect((await spoken(['board'], project)).out).not.toContain(gone)
  expect(project.run('plan', 'graph', '--language', 'mermaid').out).toMatch(/class t\d+ dropped/)
})

test('a graph in Mermaid can be pasted from a terminal as it is', async () => {
  const project = openCommandLine()
  planned(project)
  const { out } = await spoken(['plan', 'graph', '--language', 'mermaid'], project)
  expect(out).toMatch(/^flowchart LR\n/)
  expect(out).toBe(project.run('plan', 'graph', '--language', 'mermaid').out.replace(/\n\n$/, '\n'))
})

test('search finds a task and a run by name, and show takes the run', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const { run_id } = project.json('run', 'create', 'feature', '--task-id', taskId)
  expect(project.json('search', 'the FORM add')).toMatchObject({
    tasks: [{ id: taskId }],
    runs: [],
    missions: [],
  })
  expect(project.json('search', run_id.slice(0, 6)).runs).toMatchObject([{ id: run_id }])
  expect((await spoken(['search', 'form'], project)).out).toContain('Add the form')
  const { code, out } = await spoken(['show', run_id], project)
  expect([code, out]).toEqual([0, expect.stringContaining('Add the form')])
  expect(out).toContain('Transitions')
})

test('the inbox names the task, and the task shows what was answered', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const issue = ['issue', 'log', '--task-id', taskId, '--type', 'other', '--requires-human-review']
  expect(project.run(...issue, '--description', 'Which?', '--resolution', 'Guessed').code).toBe(0)
  const { items } = project.json('inbox')
  const { out } = await spoken(['inbox'], project)
  expect(out).toContain(items[0].item_id)
  expect(out).toMatch(/^blocker {2}Add the form {2}\(Sign in\)/m)
  expect(project.run('resolve', items[0].item_id, 'The second.').code).toBe(0)
  expect((await spoken(['show', taskId], project)).out).toMatch(/Answered\n[\s\S]*The second\./)
})

test.each([
  [['show', 'm-none'], /mission list --status all/],
  [['show', 't-none'], /task list/],
  [['task', 'get', 't-none'], /waymark task list/],
  [['context', 'm-none', '--include', 'tasks'], /waymark mission list --status all/],
  [['run', 'show', 'run-none'], /waymark run list --status all/],
  [['resolve', 'h-none', 'yes'], /waymark inbox/],
  [['phase', 'edit', 'P9', '--name', 'x'], /waymark phase list/],
])('an unknown id names the command that lists the known ones: %s', async (words, hint) => {
  const project = openCommandLine({ git: false })
  const { code, error } = await spoken(words, project)
  expect(code).toBe(1)
  expect(error).toMatch(hint)
  expect(error).not.toMatch(/\bCall |_/)
})

function planned(project: CommandLineProject): readonly [string, string] {
  expect(project.run('phase', 'add', '--id', 'P1', '--name', 'Design').code).toBe(0)
  const add = (title: string): Entry => project.json('task', 'add', '--phase', 'P1', '--title', title)
  return [add('First').id, add('Second').id]
}

function completed(project: CommandLineProject, taskId: string): void {
  const { code, error } = project.run(
    'task',
    'complete',
    taskId,
    '--status',
    'success',
    '--outcome.summary',
    'Done.',
  )
  expect({ code, error }).toEqual({ code: 0, error: '' })
}
