import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { amount } from '../../support/amount.ts'
import { type CommandLineProject, openCommandLine, startWork } from './command-line.ts'

const begin = ['mission', 'start', 'Begin', '--objective', 'Any'] as const

test('reading creates nothing', () => {
  const { run, folder, home } = openCommandLine()
  const before = filesIn(home)
  const ids: Readonly<Record<string, readonly string[]>> = { context: ['m-none', '--include', 'tasks'] }
  const queries = catalog.filter(({ kind, screen }) => kind === 'query' && screen !== true)
  for (const [at, { command, positional }] of queries.entries()) {
    if (at % amount({ test: 3, soak: 1 }) === 0)
      run(...command.split(' '), ...(ids[command] ?? (positional ? ['t-none'] : [])))
  }
  run('__complete', 'show', 't-')
  expect(filesIn(home)).toEqual(before)
  expect(existsSync(join(folder, '.waymark'))).toBe(false)
})

test('the record is in .waymark of the repository, wherever in it one stands, and git does not see it', () => {
  const { runWith, json, folder, git } = openCommandLine()
  expect(runWith({ folder: join(folder, 'src') }, ...begin).code).toBe(0)
  expect(json('status')).toMatchObject({ project: folder, database: join(folder, '.waymark', 'waymark.db') })
  expect(git('status', '--porcelain')).toBe('')
})

test('a linked work tree belongs to the project of the main one, and is what its tasks measure', () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const linked = join(project.home, 'linked')
  project.git('worktree', 'add', '-q', linked)
  const there = (...words: readonly string[]) =>
    JSON.parse(project.runWith({ folder: linked }, ...words, '--json').out)
  expect(there('show', taskId).id).toBe(taskId)
  const task = there('task', 'start', 'There')
  expect(project.json('show', task.task_id).attempts[0].work_tree).toBe(linked)
  expect(existsSync(join(linked, '.waymark'))).toBe(false)
})

test('for a bare repository with linked trees the record is beside it', () => {
  const project = openCommandLine()
  const bare = join(project.home, 'bare', 'project.git')
  project.git('clone', '-q', '--bare', '.', bare)
  const linked = join(project.home, 'bare', 'tree')
  execFileSync('git', ['worktree', 'add', '-q', linked], { cwd: bare })
  expect(project.runWith({ folder: linked }, ...begin)).toMatchObject({ code: 0 })
  expect(existsSync(join(project.home, 'bare', '.waymark', 'waymark.db'))).toBe(true)
  expect(existsSync(join(bare, '.waymark'))).toBe(false)
})

test('--project, WAYMARK_PROJECT and the folder of the client name a project, in this order', () => {
  const [first, second, third] = [openCommandLine(), openCommandLine(), openCommandLine()]
  const client = { CLAUDE_PROJECT_DIR: third.folder }
  const variable = { ...client, WAYMARK_PROJECT: second.folder }
  const projectOf = (environment: Record<string, string>, ...words: readonly string[]) =>
    JSON.parse(first.runWith({ environment, folder: first.home }, 'status', '--json', ...words).out).project
  expect(projectOf(variable, '--project', 'project')).toBe(first.folder)
  expect(projectOf(variable)).toBe(second.folder)
  expect(projectOf(client)).toBe(third.folder)
})

test('a folder without git is a project', () => {
  const { json, folder } = openCommandLine({ git: false })
  json(...begin)
  expect(json('status')).toMatchObject({ project: folder, witness: 'checksum', recorded: true })
})

test.each(['/', 'home'])('%s is no project, and each command says how to name one', (where) => {
  const { runWith, home } = openCommandLine()
  const folder = where === 'home' ? home : where
  const { code, error } = runWith({ folder }, 'status')
  expect(code).toBe(1)
  expect(error).toContain(`No project: ${folder}`)
  expect(error).toContain('--project <folder>')
  expect(runWith({ folder }, ...begin).error).toBe(error)
})

test('TM-079 WAYMARK_DATABASE and TASKMAN_DB_NAME name the file, from where one stands', () => {
  const project = openCommandLine()
  const record = (environment: Record<string, string>) =>
    project.runWith({ environment, folder: join(project.folder, 'src') }, ...begin)
  expect(record({ TASKMAN_DB_NAME: 'plan.db' }).code).toBe(0)
  expect(existsSync(join(project.folder, 'src', 'plan.db'))).toBe(true)
  const elsewhere = join(project.home, 'elsewhere.db')
  expect(record({ TASKMAN_DB_NAME: 'plan.db', WAYMARK_DATABASE: elsewhere }).code).toBe(0)
  expect(existsSync(elsewhere)).toBe(true)
  expect(existsSync(join(project.folder, '.waymark', 'waymark.db'))).toBe(false)
})

test.each(['CURSOR_AGENT', 'TASKMAN_JOURNAL_MEMORY'])('TM-082 %s=1 chooses the log for sandboxes', (name) => {
  const project = openCommandLine()
  expect(project.runWith({ environment: { [name]: '1' } }, ...begin).code).toBe(0)
  expect(project.run('doctor').out).toContain('journal mode persist')
})

test('the log is a write-ahead log elsewhere', () => {
  const project = openCommandLine()
  project.json(...begin)
  expect(project.run('doctor').out).toContain('journal mode wal')
})

test('snapshots are kept in the state folder, and in the project where that cannot be written', () => {
  const project = openCommandLine()
  startWork(project)
  const kept = filesIn(join(project.home, '.local', 'state', 'waymark'))
  expect(kept.filter((path) => path.endsWith('snapshots'))).toHaveLength(1)
  const closed = join(project.home, 'closed')
  mkdirSync(closed)
  expect(stateFolderIn(project, closed)).toContain(`${join(closed, 'waymark')}/`)
  // Whoever is root may write everywhere; a file in the place of the folder stops everybody.
  const file = join(project.folder, 'README.md')
  expect(stateFolderIn(project, file)).toContain(`${join(project.folder, '.waymark', 'state')}/`)
})

function stateFolderIn({ runWith }: CommandLineProject, folder: string): string {
  const { checks } = JSON.parse(runWith({ environment: { XDG_STATE_HOME: folder } }, 'doctor', '--json').out)
  return /snapshots in (.*)$/.exec(checks[0].finding)?.[1] ?? ''
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}
