import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openProject, type TestProject } from '../support/project.ts'
import { shopPlan } from '../support/shop-plan.ts'

const titles = async (project: TestProject): Promise<readonly string[]> =>
  (await project.call('taskman_task_list', { limit: 1000 })).tasks.map(
    ({ title }: { title: string }) => title,
  )

async function importShop(project: TestProject): Promise<void> {
  project.write('shop.json', shopPlan())
  await project.call('plan_import', { file: 'shop.json' })
}

const markdown = `# Design
- [x] Draw the screens
- [ ] Write the specification (after: Draw the screens)

# Build
- [ ] Model the data (after: Write the specification)
  - [ ] Orders
`

test('a Task Master file with several tags is imported: numbers repeat in each', async () => {
  const project = await openProject()
  const one = { id: 1, title: 'One', status: 'pending', subtasks: [{ id: 1, title: 'Part' }] }
  const two = { id: 2, title: 'Two', status: 'done', dependencies: [1] }
  project.write('tasks.json', JSON.stringify({ master: { tasks: [one, two] }, shop: { tasks: [one, two] } }))
  const answer = await project.call('plan_import', { file: 'tasks.json' })
  expect(answer).toMatchObject({ format: 'task-master', added: { phases: 2, tasks: 6 } })
  const again = await project.call('plan_import', { file: 'tasks.json' })
  expect(again).toMatchObject({ added: { tasks: 0 }, existing: expect.any(Number) })
})

test('an id of another program that is given twice is a problem with its place, and nothing is imported', async () => {
  const project = await openProject()
  const task = (key: string) => ({ key, title: key, foreign_id: 'x-1' })
  project.write('plan.json', JSON.stringify({ waymark_plan: 1, phases: [], tasks: [task('a'), task('b')] }))
  expect(await project.refused('plan_import', { file: 'plan.json' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'plan_invalid',
  })
})

test('after an import show names the phase, the parent, the dependencies and the subtasks', async () => {
  const project = await openProject()
  project.write('plan.md', markdown)
  await project.call('plan_import', { file: 'plan.md' })
  const { tasks } = await project.call('taskman_task_list', { limit: 10 })
  const shown = async (title: string) =>
    project.call('show', { id: tasks.find((task: { title: string }) => task.title === title).id })
  expect(await shown('Model the data')).toMatchObject({
    phase: { name: 'Build' },
    parent: null,
    depends_on: [{ name: 'Write the specification', status: 'TO_DO' }],
    subtasks: [{ name: 'Orders' }],
    subtasks_total: 1,
  })
  expect(await shown('Orders')).toMatchObject({ parent: { name: 'Model the data' }, depends_on: [] })
})

describe('a Markdown plan', () => {
  test('becomes phases, tasks, subtasks and dependencies', async () => {
    const project = await openProject()
    project.write('plan.md', markdown)
    const answer = await project.call('plan_import', { file: 'plan.md' })
    expect(answer).toMatchObject({ format: 'markdown', added: { phases: 2, tasks: 4 }, existing: 0 })
    expect(await titles(project)).toEqual([
      'Draw the screens',
      'Write the specification',
      'Model the data',
      'Orders',
    ])
    const { task } = await project.call('taskman_task_next')
    expect(task.title).toBe('Write the specification')
  })

  test('imported again adds only what is new', async () => {
    const project = await openProject()
    project.write('plan.md', markdown)
    await project.call('plan_import', { file: 'plan.md' })
    project.write('plan.md', `${markdown}- [ ] One more\n`)
    const answer = await project.call('plan_import', { file: 'plan.md' })
    expect(answer).toMatchObject({ added: { phases: 0, tasks: 1 }, existing: 4 })
  })

  test('is only looked at with dry-run', async () => {
    const project = await openProject({ database: false })
    project.write('plan.md', markdown)
    const answer = await project.call('plan_import', { file: 'plan.md', 'dry-run': true })
    expect(answer).toMatchObject({ added: { tasks: 4 }, dry_run: true })
    expect((await project.context.store.health()).exists).toBe(false)
  })
})

describe('nothing is half imported', () => {
  test('a plan with a circle is refused, with every problem', async () => {
    const project = await openProject({ database: false })
    const task = { status: 'to_do', phase: 'P1' }
    const plan = {
      waymark_plan: 1,
      phases: [{ key: 'P1', name: 'One', status: 'to_do' }],
      tasks: [
        { key: 'a', title: 'A', depends_on: ['b'], ...task },
        { key: 'b', title: 'B', depends_on: ['a'], ...task },
        { key: 'c', title: 'C', depends_on: ['nowhere'], ...task },
      ],
    }
    project.write('plan.json', JSON.stringify(plan))
    const refused = await project.refused('plan_import', { file: 'plan.json' })
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', reason: 'plan_invalid' })
    expect((await project.context.store.health()).exists).toBe(false)
  })

  test('a file that is not there, and text that is no plan', async () => {
    const project = await openProject()
    expect(await project.refused('plan_import', { file: 'nowhere.md' })).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'file_not_found',
    })
    project.write('broken.json', '{ "phases": [')
    expect(await project.refused('plan_import', { file: 'broken.json' })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'plan_invalid',
    })
  })
})

test.each([
  ['prose.md', 'Only words.\n\nAnd more.'],
  ['empty.md', ''],
  ['empty.json', '{"tasks":[],"phases":[]}'],
])('a file without a task is refused: %s', async (name, text) => {
  const project = await openProject()
  project.write(name, text)
  const refused = await project.refused('plan_import', { file: name })
  expect(refused).toMatchObject({ code: 'INVALID_INPUT', reason: 'plan_empty' })
  expect(await project.call('taskman_task_list')).toMatchObject({ tasks: [] })
})

test('reports an unreadable file in one sentence', async () => {
  const project = await openProject()
  execFileSync('mkfifo', [join(project.folder, 'pipe.md')])
  symlinkSync('loop.md', join(project.folder, 'loop.md'))
  project.write('broken.db', `SQLite format 3\0${'x'.repeat(4000)}`)
  const told = (file: string) => project.refused('plan_import', { file })
  expect(await told('pipe.md')).toMatchObject({ code: 'INVALID_INPUT', reason: 'not_a_file' })
  expect(await told('loop.md')).toMatchObject({ code: 'UNAVAILABLE', reason: 'file_unreadable' })
  expect(await told('/proc/self/mem')).toMatchObject({ code: 'UNAVAILABLE', reason: 'file_unreadable' })
  expect(await told('broken.db')).toMatchObject({ code: 'UNAVAILABLE', reason: 'file_unreadable' })
})

test('a phase whose id another plan has takes the next free id, also in the next import', async () => {
  const { call, write } = await openProject()
  write('plan.md', markdown)
  await call('plan_import', { file: 'plan.md' })
  const { mission_id: mission } = await call('start_mission', { name: 'Orders', objective: 'Orders' })
  const [design] = (await call('taskman_phase_list', { mission: 'none' })).phases
  for (const added of [4, 0])
    expect(await call('plan_import', { file: 'plan.md', mission })).toMatchObject({ added: { tasks: added } })
  const { phases } = await call('taskman_phase_list', { mission })
  expect(phases).toContainEqual(expect.objectContaining({ id: `${design.id}-2`, name: 'Design' }))
  const { tasks } = await call('taskman_task_list', { mission, phase: `${design.id}-2` })
  expect(tasks).toHaveLength(2)
})

test('a file that vanishes while its folder is read is told in a sentence', async () => {
  const project = await openProject()
  project.write('backlog/tasks/task-1 - One.md', '---\nid: task-1\ntitle: One\nstatus: To Do\n---\n')
  const gone = join(project.folder, 'backlog', 'tasks')
  const reading = project.refused('plan_import', { file: 'backlog' })
  rmSync(gone, { recursive: true })
  expect(await reading).toMatchObject({ code: 'INVALID_INPUT', reason: 'plan_empty' })
})

test('a taskman database is imported with its ids, times, notes and dependencies, and stays as it is', async () => {
  const project = await openProject()
  const file = join(project.folder, 'project_tasks.db')
  const taskman = new Sqlite(file)
  taskman.exec(`
    create table phases (id text primary key, name text not null, status text, sort_order integer);
    create table milestones (id text primary key, phase_id text not null, name text, criterion text, reached integer);
    create table tasks (id text primary key, phase_id text not null, milestone_id text, title text, description text,
      status text, sort_order integer, role text, creator text, created_at text, updated_at text);
    create table task_deps (task_id text not null, depends_on text not null, primary key (task_id, depends_on));
    create table task_notes (id text primary key, task_id text not null, content text not null, kind text, role text, created_at text);
    insert into phases values ('P1', 'Design', 'in_progress', 2), ('P0', 'Before', 'done', 1);
    insert into milestones values ('M1', 'P1', 'Approved', 'Signed', 1);
    insert into tasks values
      ('7f9c2ba4-e88f-4c3f-8f0a-111111111111', 'P1', 'M1', 'Draw', 'Screens', 'done', 1, 'ui-designer', 'pm', '2026-01-02 03:04:05', '2026-01-02 03:04:06'),
      ('7f9c2ba4-e88f-4c3f-8f0a-222222222222', 'P1', null, 'Write', null, 'to_do', 2, null, null, null, null);
    insert into task_deps values ('7f9c2ba4-e88f-4c3f-8f0a-222222222222', '7f9c2ba4-e88f-4c3f-8f0a-111111111111');
    insert into task_notes values ('n1', '7f9c2ba4-e88f-4c3f-8f0a-111111111111', 'Done well', 'completion', 'developer', '2026-01-02 03:04:07');
  `)
  taskman.close()
  const before = readFileSync(file)
  const answer = await project.call('plan_import', { file: 'project_tasks.db' })
  expect(answer).toMatchObject({ format: 'taskman', added: { phases: 2, milestones: 1, tasks: 2 } })
  const { phases } = await project.call('taskman_phase_list')
  expect(phases.map(({ id }: { id: string }) => id)).toEqual(['P0', 'P1'])
  const drawn = await project.call('taskman_task_get', { id: '7f9c2ba4-e88f-4c3f-8f0a-111111111111' })
  expect(drawn).toMatchObject({
    title: 'Draw',
    description: 'Screens',
    status: 'done',
    milestone_id: 'M1',
    creator: 'pm',
    created_at: '2026-01-02T03:04:05.000Z',
  })
  const { notes } = await project.call('taskman_task_note_list', { id: drawn.id })
  expect(notes).toMatchObject([{ content: 'Done well', kind: 'completion', role: 'developer' }])
  expect((await project.call('taskman_task_next')).task.title).toBe('Write')
  expect(readFileSync(file).equals(before)).toBe(true)
})

describe('export and import', () => {
  test('an exported and imported plan keeps everything that people wrote', async () => {
    const one = await openProject()
    await importShop(one)
    await one.call('taskman_task_note_add', {
      id: (await one.call('taskman_task_next')).task.id,
      content: 'Careful',
    })
    await one.call('taskman_task_add', {
      title: 'Sign in',
      phase: 'P2',
      assignee: 'claude',
      areas: ['src/auth/**'],
    })
    const exported = await one.call('plan_export')
    const other = await openProject()
    other.write('plan.json', JSON.stringify(exported))
    await other.call('plan_import', { file: 'plan.json' })
    const untimed = (plan: { tasks: readonly object[] }) => ({
      ...plan,
      tasks: plan.tasks.map((task) => ({ ...task, updated_at: null })),
    })
    expect(exported.tasks).toContainEqual(
      expect.objectContaining({ assignee: 'claude', areas: ['src/auth/**'] }),
    )
    expect(untimed(await other.call('plan_export'))).toEqual(untimed(exported))
  })

  test('an exported and imported project has the same log and hashes', async () => {
    const one = await openProject()
    await importShop(one)
    const { mission_id } = await one.call('start_mission', { name: 'a', objective: 'b' })
    const { task_id } = await one.call('start_task', { mission_id, name: 't', areas: ['auth'] })
    one.write('utils.ts', 'changed\n')
    await one.call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
    const { text } = await one.call('export')
    const other = await openProject({ isAlone: true })
    writeFileSync(join(other.folder, 'project.jsonl'), `${text}\n`)
    await other.call('plan_import', { file: 'project.jsonl' })
    expect((await other.call('export')).text).toBe(text)
    expect(await other.call('show', { id: mission_id })).toEqual(await one.call('show', { id: mission_id }))
    expect(await other.call('plan_show')).toEqual(await one.call('plan_show'))
    expect((await other.context.store.view(({ eventLog: log }) => log.verify())).brokenAt).toBeNull()
    const next = await other.call('start_mission', { name: 'c', objective: 'd' })
    expect(next.mission_id).toMatch(/^m-/)
    // In a database with both projects it is the same project twice.
    expect(await other.refused('plan_import', { file: 'project.jsonl' })).toMatchObject({
      code: 'CONFLICT',
      reason: 'record_exists',
    })
  })

  test('refuses to import a log that was changed', async () => {
    const one = await openProject()
    await one.call('start_mission', { name: 'honest', objective: 'b' })
    const { text } = await one.call('export')
    const other = await openProject({ isAlone: true })
    writeFileSync(join(other.folder, 'project.jsonl'), text.replace('honest', 'forged'))
    expect(await other.refused('plan_import', { file: 'project.jsonl' })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'export_damaged',
    })
    expect((await other.call('list_missions')).total).toBe(0)
    writeFileSync(join(other.folder, 'cut.jsonl'), `${text.slice(0, -20)}\n`)
    expect(await other.refused('plan_import', { file: 'cut.jsonl' })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'export_incomplete',
    })
  })
})

test('a plan is drawn in Mermaid and in DOT', async () => {
  const project = await openProject()
  await importShop(project)
  expect((await project.call('plan_graph')).text).toMatch(/^flowchart LR\n/)
  expect((await project.call('plan_graph', { language: 'dot' })).text).toMatch(/^digraph plan \{\n/)
})
