import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { soakTest } from '../support/amount.ts'
import { recordGuardedCommand } from '../support/guarded-command.ts'
import { agentActor, openProject, person, type TestProject } from '../support/project.ts'

interface Work extends TestProject {
  readonly at: (path: string) => string
  readonly read: (path: string) => string
  readonly restore: (id: string, input?: object) => ReturnType<TestProject['call']>
  readonly refusal: (id: string, input?: object) => ReturnType<TestProject['refused']>
  /** Records a snapshot as the guard before a git command does, and returns its id. */
  readonly guard: () => Promise<string>
}

async function opened(): Promise<Work> {
  const project = await openProject()
  const { folder } = project
  const at = (path: string) => join(folder, path)
  return {
    ...project,
    at,
    read: (path) => readFileSync(at(path), 'utf8'),
    restore: (id, input = {}) => project.call('restore', { id, yes: true, ...input }, { actor: person }),
    refusal: (id, input = {}) => project.refused('restore', { id, yes: true, ...input }, { actor: person }),
    guard: () => recordGuardedCommand(project, 'git reset --hard'),
  }
}

async function started(
  { call, wait }: Pick<TestProject, 'call' | 'wait'>,
  input: object = {},
): Promise<string> {
  const { task_id } = await call('start_task', { name: 'Any', goal: 'g', ...input })
  wait(1000)
  return task_id
}

const summary = { outcome: { summary: 's' } }

test('brings back the files of an open task as they were before git checkout, and can be undone', async () => {
  const { call, git, write, read, at, restore, guard, wait } = await opened()
  const id = await started({ call, wait })
  write('src/auth.ts', 'export const auth = 2\n')
  write('docs/new.md', 'new\n')
  await guard()
  git('checkout', '--', '.')
  git('clean', '-fdq')
  const shown = await call('restore', { id, dry_run: true }, { actor: person })
  expect(shown).toMatchObject({ written: false, files_total: 2, newer: [], snapshot_id: null })
  expect(shown.diff).toContain('+export const auth = 2')
  expect(read('src/auth.ts')).toBe('export const auth = 1\n')
  const done = await restore(id, { content: shown.content })
  expect(done).toMatchObject({
    written: true,
    files: [
      { path: 'docs/new.md', action: 'created' },
      { path: 'src/auth.ts', action: 'changed' },
    ],
  })
  expect([read('src/auth.ts'), read('docs/new.md')]).toEqual(['export const auth = 2\n', 'new\n'])
  expect(git('status', '--short')).toContain(' M src/auth.ts')
  await restore(done.snapshot_id)
  expect(read('src/auth.ts')).toBe('export const auth = 1\n')
  expect(existsSync(at('docs'))).toBe(false)
})

test('takes the last kept content of each file, not that after the loss', async () => {
  const { call, git, write, read, restore, guard, wait } = await opened()
  const id = await started({ call, wait })
  write('src/auth.ts', 'first\n')
  await guard()
  wait(1000)
  write('src/auth.ts', 'second\n')
  await guard()
  wait(1000)
  git('reset', '-q', '--hard')
  await guard()
  await restore(id)
  expect(read('src/auth.ts')).toBe('second\n')
})

test('brings back an ended task as it was at its end, with the mode, links and binary content', async () => {
  const { call, git, write, at, restore, wait, folder } = await opened()
  const id = await started({ call, wait })
  const binary = randomBytes(3_000_000)
  const large = Buffer.alloc(5 * 1024 * 1024, 'x')
  writeFileSync(at('big.bin'), binary)
  writeFileSync(at('large.txt'), large)
  write('run.sh', '#!/bin/sh\n')
  chmodSync(at('run.sh'), 0o755)
  chmodSync(at('src/api.ts'), 0o755)
  symlinkSync('src/auth.ts', at('link'))
  mkdirSync(at('sub/deep'), { recursive: true })
  write('sub/deep/a.txt', 'a\n')
  unlinkSync(at('utils.ts'))
  git('mv', 'README.md', 'Readme.md')
  await call('complete_task', { task_id: id, status: 'success', ...summary })
  git('reset', '-q', '--hard')
  git('clean', '-fdq')
  const done = await restore(id)
  expect(done).toMatchObject({ written: true, left_out: [], refused: [], newer: [] })
  expect(readFileSync(at('big.bin')).equals(binary)).toBe(true)
  expect(readFileSync(at('large.txt')).equals(large)).toBe(true)
  expect(statSync(at('run.sh')).mode & 0o100).toBe(0o100)
  expect(statSync(at('src/api.ts')).mode & 0o100).toBe(0o100)
  expect(readlinkSync(at('link'))).toBe('src/auth.ts')
  expect(readFileSync(at('sub/deep/a.txt'), 'utf8')).toBe('a\n')
  expect(existsSync(at('utils.ts'))).toBe(false)
  const names = execFileSync('ls', { cwd: folder, encoding: 'utf8' }).split('\n')
  expect(names.filter((name) => /readme/i.test(name))).toEqual(['Readme.md'])
})

test('brings back what each attempt at an ended task changed', async () => {
  const { call, git, write, read, restore, wait } = await opened()
  const id = await started({ call, wait })
  write('docs/new.md', 'new\n')
  await call('complete_task', { task_id: id, status: 'success', ...summary })
  await call('taskman_task_edit', { id, status: 'to_do' }, { actor: person })
  await call('start_task', { name: 'Any', planned_task_id: id, goal: 'g' })
  wait(1000)
  write('src/auth.ts', 'second\n')
  await call('complete_task', { task_id: id, status: 'success', ...summary })
  git('checkout', '--', '.')
  git('clean', '-fdq')
  expect(await restore(id)).toMatchObject({ files_total: 2 })
  expect([read('docs/new.md'), read('src/auth.ts')]).toEqual(['new\n', 'second\n'])
})

test('overwrites newer content only with force, and then keeps it', async () => {
  const { call, git, write, read, restore, refusal, guard, wait } = await opened()
  const id = await started({ call, wait })
  write('src/auth.ts', 'work\n')
  write('src/api.ts', 'work\n')
  await guard()
  git('checkout', '--', '.')
  write('src/auth.ts', 'newer\n')
  expect(await refusal(id)).toMatchObject({
    code: 'CONFLICT',
    reason: 'newer_content',
    details: { newer: ['src/auth.ts'] },
  })
  expect([read('src/auth.ts'), read('src/api.ts')]).toEqual(['newer\n', 'export const api = 1\n'])
  expect(await restore(id, { paths: ['src/api.ts', 'src/auth.ts'] })).toMatchObject({
    files: [{ path: 'src/api.ts' }],
    newer: ['src/auth.ts'],
  })
  expect([read('src/auth.ts'), read('src/api.ts')]).toEqual(['newer\n', 'work\n'])
  const { snapshot_id } = await restore(id, { force: true })
  expect(read('src/auth.ts')).toBe('work\n')
  await restore(snapshot_id)
  expect(read('src/auth.ts')).toBe('newer\n')
})

test('refuses a path behind a link, and writes nothing of the others', async () => {
  const { call, git, write, read, at, refusal, restore, guard, wait, folder } = await opened()
  const id = await started({ call, wait })
  write('src/auth.ts', 'work\n')
  write('utils.ts', 'work\n')
  await guard()
  git('checkout', '--', '.')
  const outside = join(dirname(folder), 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'auth.ts'), 'outside\n')
  execFileSync('rm', ['-rf', at('src')])
  symlinkSync(outside, at('src'))
  expect(await refusal(id)).toMatchObject({
    reason: 'files_not_writable',
    details: { refused: [{ path: 'src/auth.ts' }] },
  })
  expect(read('utils.ts')).toBe('export const utils = 1\n')
  expect(await restore(id, { paths: ['src', 'utils.ts'] })).toMatchObject({
    files: [{ path: 'utils.ts' }],
    refused: [{ path: 'src/auth.ts' }],
  })
  expect(readFileSync(join(outside, 'auth.ts'), 'utf8')).toBe('outside\n')
  expect(lstatSync(at('src')).isSymbolicLink()).toBe(true)
})

test('brings files back with the line endings and encodings that git checks out', async () => {
  const { call, git, write, at, restore, guard, wait } = await opened()
  write('.gitattributes', '*.bat text eol=crlf\n*.utf16 text working-tree-encoding=UTF-16LE\n*.png binary\n')
  git('add', '-A')
  git('commit', '-qm', 'attributes')
  const id = await started({ call, wait })
  const files = {
    'a.bat': Buffer.from('one\r\ntwo\r\n'),
    'b.utf16': Buffer.from('grüße\n', 'utf16le'),
    'c.png': Buffer.from('a\r\nb\n\0\r\n'),
    'd.txt': Buffer.from('mixed\r\nlines\n'),
  }
  for (const [path, content] of Object.entries(files)) writeFileSync(at(path), content)
  await guard()
  git('clean', '-fdq')
  await restore(id)
  for (const [path, content] of Object.entries(files))
    expect([path, readFileSync(at(path))]).toEqual([path, content])
})

test('with core.autocrlf a text file comes back with CRLF', async () => {
  const { call, git, at, restore, guard, wait } = await opened()
  git('config', 'core.autocrlf', 'true')
  const id = await started({ call, wait })
  writeFileSync(at('a.txt'), 'one\r\ntwo\r\n')
  await guard()
  git('clean', '-fdq')
  await restore(id)
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\r\ntwo\r\n')
})

test('runs no filter of the repository, and names what it leaves out', async () => {
  const { call, git, write, at, restore, guard, wait } = await opened()
  write('.gitattributes', '*.secretly filter=own\n*.lfs filter=lfs\n')
  write('.gitignore', '*.log\n')
  git('add', '-A')
  git('commit', '-qm', 'attributes')
  git('config', 'filter.own.clean', `touch ${at('ran')}; cat`)
  git('config', 'filter.own.smudge', `touch ${at('ran')}; cat`)
  git('config', 'filter.lfs.clean', 'git-lfs clean -- %f')
  git('config', 'filter.lfs.process', 'git-lfs filter-process')
  const id = await started({ call, wait })
  write('a.secretly', 'kept as on disk\n')
  write('b.lfs', 'large\n')
  write('.env', 'TOKEN=1\n')
  write('c.log', 'ignored\n')
  writeFileSync(at('huge.bin'), Buffer.alloc(5 * 1024 * 1024 + 1))
  await guard()
  for (const path of ['a.secretly', 'b.lfs', '.env', 'c.log', 'huge.bin']) unlinkSync(at(path))
  const done = await restore(id)
  expect(done.files).toEqual([{ path: 'a.secretly', action: 'created' }])
  expect(readFileSync(at('a.secretly'), 'utf8')).toBe('kept as on disk\n')
  expect(existsSync(at('ran'))).toBe(false)
  const left = new Map(done.left_out.map(({ path, why }: { path: string; why: string }) => [path, why]))
  expect(Object.fromEntries(left)).toMatchObject({
    '.env': 'secret',
    'huge.bin': 'too_large',
    'b.lfs': 'lfs',
  })
})

soakTest('restores a thousand files at once', async () => {
  const { call, git, write, read, restore, guard, wait } = await opened()
  const id = await started({ call, wait })
  for (let at = 0; at < 1000; at += 1) write(`many/f${at}.txt`, `${at}\n`)
  await guard()
  git('clean', '-fdq')
  expect(await restore(id)).toMatchObject({ files_total: 1000 })
  expect(read('many/f999.txt')).toBe('999\n')
})

test('leaves repositories inside the work tree alone', async () => {
  const { call, write, at, restore, guard, wait } = await opened()
  const id = await started({ call, wait })
  mkdirSync(at('nested'))
  execFileSync('git', ['init', '-q'], { cwd: at('nested') })
  write('nested/a.txt', 'a\n')
  write('own.txt', 'own\n')
  await guard()
  unlinkSync(at('nested/a.txt'))
  unlinkSync(at('own.txt'))
  const done = await restore(id)
  expect(done.files).toEqual([{ path: 'own.txt', action: 'created' }])
  expect(done.left_out).toEqual([{ path: 'nested/a.txt', why: 'repository' }])
  expect(existsSync(at('nested/a.txt'))).toBe(false)
})

test('restores from a snapshot before a guarded command, and names the commits that are lost', async () => {
  const { git, write, read, restore, guard } = await opened()
  git('checkout', '-qb', 'topic')
  write('committed.txt', 'c\n')
  git('add', '-A')
  git('commit', '-qm', 'topic')
  const lost = git('rev-parse', 'HEAD').trim()
  write('utils.ts', 'work\n')
  const id = await guard()
  git('checkout', '-q', '-f', '-')
  git('branch', '-qD', 'topic')
  const done = await restore(id, { paths: ['utils.ts'] })
  expect(read('utils.ts')).toBe('work\n')
  expect(done.commits).toEqual([
    { commit: lost, command: `git branch restored-${lost.slice(0, 10)} ${lost}` },
  ])
  const [, ...words] = done.commits[0].command.split(' ')
  git(...words)
  expect(git('show', `restored-${lost.slice(0, 10)}:committed.txt`)).toBe('c\n')
})

test('lists as many files of a task as a restore brings, of all its attempts', async () => {
  const { call, write, wait, remove } = await opened()
  const id = await started({ call, wait })
  write('src/auth.ts', 'work\n')
  const ending = { task_id: id, outcome: { summary: 'Did it.' } }
  await call('complete_task', { ...ending, status: 'failed' })
  wait(1000)
  await call('start_task', { planned_task_id: id })
  write('src/more.ts', 'more\n')
  await call('complete_task', { ...ending, status: 'success' })
  write('src/auth.ts', 'gone\n')
  remove('src/more.ts')
  const { restorable } = await call('restore_list', {}, { actor: person })
  const { files_total: total } = await call('restore', { id, force: true }, { actor: person })
  expect([restorable[0].files, total]).toEqual([2, 2])
})

test('is for people, needs what is kept, and refuses a difference that was not shown', async () => {
  const { call, refused, git, write, refusal, guard, wait, context, folder } = await opened()
  const id = await started({ call, wait })
  expect(await refusal(id)).toMatchObject({ reason: 'work_not_measured' })
  const none = await call('restore_list', {}, { actor: person })
  expect(none.restorable).toEqual([])
  write('src/auth.ts', 'work\n')
  const snapshot = await guard()
  git('checkout', '--', '.')
  expect(await refused('restore', { id, yes: true }, { actor: agentActor })).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'person_needed',
  })
  expect(await refusal(id, { content: 'another' })).toMatchObject({ reason: 'files_changed_meanwhile' })
  expect(await refusal(id, { paths: ['src/none.ts'] })).toMatchObject({ reason: 'file_not_kept' })
  expect(await refusal('waymark.db')).toMatchObject({ reason: 'id_expected' })
  expect(await refusal('src/auth.ts')).toMatchObject({ reason: 'id_expected' })
  expect(await refusal('sn-none')).toMatchObject({ reason: 'snapshot_not_found' })
  const { restorable } = await call('restore_list', {}, { actor: person })
  expect(restorable.map(({ id: one, what }: { id: string; what: string }) => [one, what])).toEqual(
    expect.arrayContaining([
      [snapshot, 'guarded command'],
      [id, 'task'],
    ]),
  )
  const taken = await context.store.view(({ guardedCommands }) => guardedCommands.byId(snapshot))
  execFileSync('rm', ['-rf', taken?.snapshot?.directory ?? folder])
  expect(await refusal(snapshot)).toMatchObject({ reason: 'contents_not_kept' })
})
