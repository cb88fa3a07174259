import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import { createWitness } from '../../src/git/witness.ts'
import type { ChangeReport } from '../../src/track/domain/changes.ts'
import { removeFolder } from '../support/removed-folder.ts'
import { brief } from './watch.ts'

// Folders that are in no repository, with a git program and without one.

let home = ''
let top = ''
let taken = 0
let witness: WorkTreeWitness
let gitless: WorkTreeWitness

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'folder-')))
  top = join(home, 'tree')
  mkdirSync(top)
  witness = witnessWith('state', {})
  gitless = witnessWith('bare-state', { PATH: home })
})
afterEach(async () => {
  await Promise.all([witness.settle(), gitless.settle()])
  removeFolder(home)
})

function witnessWith(state: string, environment: NodeJS.ProcessEnv): WorkTreeWitness {
  const own = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, ...environment }
  return createWitness({
    stateFolder: join(home, state),
    clock: { now: () => Date.now() },
    environment: own,
  })
}

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(top, path)), { recursive: true })
  writeFileSync(join(top, path), content)
}

function remove(path: string): void {
  rmSync(join(top, path), { recursive: true })
}

function snap(by: WorkTreeWitness = witness) {
  taken += 1
  return by.snapshot({ folder: top, name: `snapshot-${taken}` })
}

/** What a piece of work changed: without git the same is told, but for lines and where they are missing. */
async function during(work: () => void): Promise<ChangeReport> {
  const [before, bare] = [await snap(), await snap(gitless)]
  expect(before.ref.id).toBe(bare.ref.id)
  work()
  const [after, bareAfter] = [await snap(), await snap(gitless)]
  expect(after.ref).toMatchObject({ engine: 'checksum', id: bareAfter.ref.id })
  expect(await witness.matching(after.ref, ['**'])).toEqual(await gitless.matching(bareAfter.ref, ['**']))
  const report = await witness.changes(before.ref, after.ref)
  const bareReport = await gitless.changes(bare.ref, bareAfter.ref)
  expect(brief(bareReport)).toEqual(brief(report))
  expect(bareReport).toMatchObject({ status: report.status, ignored: report.ignored, doubts: report.doubts })
  return report
}

test('tells added, modified, deleted and renamed files, with their lines', async () => {
  put('src/a.ts', 'one\ntwo\nthree\n')
  put('b.py', 'x\ny\n')
  put('c.txt', 'moved\n')
  const report = await during(() => {
    put('src/a.ts', 'one\n2\nthree\nfour')
    put('src/new.ts', 'new\n')
    remove('b.py')
    renameSync(join(top, 'c.txt'), join(top, 'd.txt'))
  })
  expect(report.status).toBe('exact')
  expect(brief(report)).toEqual(['D b.py', 'R c.txt>d.txt', 'M src/a.ts', 'A src/new.ts'])
  expect(report.changes.map(({ addedLines, deletedLines }) => [addedLines, deletedLines])).toEqual([
    [0, 2],
    [0, 0],
    [2, 1],
    [1, 0],
  ])
})

describe('nothing changed', () => {
  test('when a file was only touched', async () => {
    put('a.ts', 'a')
    const report = await during(() => utimesSync(join(top, 'a.ts'), 1, 1))
    expect(report).toMatchObject({ status: 'exact', changes: [] })
  })

  test('when a file was added and deleted again', async () => {
    put('a.ts', 'a')
    expect(brief(await during(() => [put('b.ts', 'b'), remove('b.ts')]))).toEqual([])
  })
})

test('sees an edit that keeps size and modification time', async () => {
  put('a.ts', 'aaaa')
  utimesSync(join(top, 'a.ts'), 1_000_000, 1_000_000)
  const report = await during(() => {
    put('a.ts', 'bbbb')
    utimesSync(join(top, 'a.ts'), 1_000_000, 1_000_000)
  })
  expect(brief(report)).toEqual(['M a.ts'])
})

test('sees modes, links and changes of type', async () => {
  put('run.sh', 'x')
  put('file', 'x')
  put('lib/util.ts', 'util')
  put('folder/a', 'inside')
  symlinkSync('one', join(top, 'link'))
  const report = await during(() => {
    chmodSync(join(top, 'run.sh'), 0o755)
    remove('link')
    symlinkSync('two', join(top, 'link'))
    remove('file')
    symlinkSync('run.sh', join(top, 'file'))
    remove('lib/util.ts')
    put('lib/util.ts/a', 'below')
    remove('folder')
    put('folder', 'flat')
  })
  expect(brief(report)).toEqual(
    ['T file', 'A folder', 'D folder/a', 'A lib/util.ts/a', 'D lib/util.ts', 'M link', 'M run.sh'].sort(
      (a, b) => (a.slice(2) < b.slice(2) ? -1 : 1),
    ),
  )
  expect(report.changes.find(({ path }) => path === 'run.sh')).toMatchObject({
    addedLines: 0,
    deletedLines: 0,
  })
})

test('never opens a pipe, and never follows a link out of the tree or in a circle', async () => {
  put('a.ts', 'a')
  const report = await during(() => {
    expect(spawnSync('mkfifo', [join(top, 'pipe')]).status).toBe(0)
    symlinkSync('.', join(top, 'circle'))
    symlinkSync(home, join(top, 'outside'))
  })
  expect(brief(report)).toEqual(['A circle', 'A outside', 'A pipe'])
})

/** A snapshot holds these files, and no other. */
async function expectFiles(paths: readonly string[]): Promise<void> {
  const { ref } = await snap()
  const [all, ...each] = await witness.matching(ref, ['**', ...paths])
  expect(all?.files).toBe(paths.length)
  expect(each.map(({ files }) => files)).toEqual(paths.map(() => expect.toSatisfy((found) => found >= 1)))
}

test('leaves out what ignore files, version control and package managers own', async () => {
  put('.gitignore', 'dist/\n*.log\n!keep.log\n')
  put('packages/x/.gitignore', '!debug.log\n/out\n')
  for (const path of ['dist/a.js', 'a.log', 'node_modules/x/i.js', '.git/HEAD', 'packages/x/out/o.js'])
    put(path, 'x')
  for (const path of ['keep.log', 'packages/x/debug.log', 'packages/y/out/o.js', 'out.ts']) put(path, 'x')
  await expectFiles([
    '.gitignore',
    'keep.log',
    'out.ts',
    'packages/x/.gitignore',
    'packages/x/debug.log',
    'packages/y/out/o.js',
  ])
})

test("keeps Waymark's own folder out, except the processes", async () => {
  put('.waymark/waymark.db', 'x')
  put('.waymark/state/s', 'x')
  put('.waymark/processes/deploy/p.yaml', 'x')
  put('sub/.waymark/processes/p.yaml', 'x')
  await expectFiles(['.waymark/processes/deploy/p.yaml', 'sub/.waymark/processes/p.yaml'])
})

test('lists single ignored files apart', async () => {
  put('.gitignore', '.env*\nsecret/\n')
  put('.env', 'A=1')
  put('.env.old', 'A=0')
  const report = await during(() => {
    put('.env', 'A=2')
    put('.env.new', 'A=3')
    remove('.env.old')
    put('secret/key', 'x')
  })
  expect(brief(report)).toEqual([])
  expect(report.ignored).toEqual({ added: ['.env.new'], modified: ['.env'], deleted: ['.env.old'] })
})

test('a new or removed ignore rule adds and deletes nothing, but is told', async () => {
  put('.gitignore', 'build/\n')
  put('build/out.js', 'x')
  put('notes.txt', 'x')
  // What was made in the same tick of the file system, at most 10 ms, as the snapshot may be later than it.
  const made = statSync(join(top, 'build/out.js')).ctimeMs
  await expect.poll(() => Date.now()).toBeGreaterThan(made + 20)
  const report = await during(() => put('.gitignore', 'notes.txt\n'))
  expect(brief(report)).toEqual(['M .gitignore'])
  expect(report.notes.map((note) => note.split(' ')[0])).toEqual(['notes.txt', 'build/out.js'])
})

test('never looks into a linked work tree of the repository there, which git cannot read', async () => {
  put('.git/worktrees/x/gitdir', `${join(top, '.worktrees/x/.git')}\n`)
  put('a.ts', 'a')
  const report = await during(() => {
    put('.worktrees/x/.git', `gitdir: ${join(top, '.git/worktrees/x')}\n`)
    put('.worktrees/x/a.ts', 'a')
  })
  expect(brief(report)).toEqual([])
  expect(report).toMatchObject({ status: 'partial', unreadable: ['.worktrees/x/'] })
})

test('looks into a folder that only has the look of a linked work tree', async () => {
  const report = await during(() => {
    put('src/x/.git', 'gitdir: /somewhere/.git/worktrees/x\n')
    put('src/x/a.ts', 'a')
  })
  expect(brief(report)).toEqual(['A src/x/a.ts'])
})

test('takes names of any bytes', async () => {
  const names = [
    'a\nb.txt',
    't\tb',
    'q"u.txt',
    '-dash',
    '[g]*?.ts',
    ' space ',
    'é.txt',
    'e\u0301.txt',
    '日本.md',
  ]
  const report = await during(() => {
    for (const name of names) put(name, name)
    writeFileSync(Buffer.concat([Buffer.from(`${top}/bad-`), Buffer.from([0xff, 0xfe])]), 'x')
  })
  expect(report.changes.map(({ path }) => path).sort()).toEqual([...names, 'bad-\ufffd\ufffd'].sort())
})

test('pairs renames by content, the same name first, and empty files as git does', async () => {
  for (const path of ['a/x.ts', 'a/y.ts']) put(path, 'same')
  put('empty', '')
  const report = await during(() => {
    mkdirSync(join(top, 'b'))
    for (const name of ['x.ts', 'y.ts']) renameSync(join(top, 'a', name), join(top, 'b', name))
    renameSync(join(top, 'empty'), join(top, 'hollow'))
  })
  expect(brief(report)).toEqual(['R a/x.ts>b/x.ts', 'R a/y.ts>b/y.ts', 'R empty>hollow'])
})

test('counts no lines of binary or large files', async () => {
  put('a.bin', Buffer.from([0, 1]))
  const report = await during(() => {
    put('a.bin', Buffer.from([0, 2]))
    put('big.txt', 'x\n'.repeat(3_000_000))
  })
  expect(report.status).toBe('exact')
  expect(report.changes.map(({ path, addedLines }) => [path, addedLines])).toEqual([
    ['a.bin', null],
    ['big.txt', null],
  ])
})

test('answers which paths differ, both names of a rename', async () => {
  put('a.ts', 'a')
  put('b.ts', 'b')
  const { ref: before } = await snap()
  renameSync(join(top, 'a.ts'), join(top, 'c.ts'))
  expect(await witness.touchedPaths(before, (await snap()).ref)).toEqual(['a.ts', 'c.ts'])
})

test('git applies the unified diff', async () => {
  put('a.ts', 'one\ntwo\nthree\n')
  put('gone.ts', 'gone')
  put('moved.ts', 'moved\n')
  put('run.sh', '#!/bin/sh\n')
  put('q"uoted é.ts', 'x\n')
  const { ref: before } = await snap()
  const copy = join(home, 'copy')
  spawnSync('cp', ['-a', top, copy])
  put('a.ts', 'one\n2\nthree\nfour')
  put('new/é.ts', 'new\n')
  put('empty', '')
  put('q"uoted é.ts', 'y\n')
  remove('gone.ts')
  renameSync(join(top, 'moved.ts'), join(top, 'there.ts'))
  chmodSync(join(top, 'run.sh'), 0o755)
  const { ref: after } = await snap()
  const diff = (await witness.unifiedDiff(before, after))?.text ?? ''
  const applied = spawnSync('git', ['apply', '--unsafe-paths', '-'], {
    cwd: copy,
    input: diff,
    encoding: 'utf8',
  })
  expect(applied.stderr).toBe('')
  expect(spawnSync('diff', ['-r', copy, top], { encoding: 'utf8' }).stdout).toBe('')
})

test('the diff of one path is found by its old and its new name', async () => {
  put('old.ts', 'x\n')
  const { ref: before } = await snap()
  renameSync(join(top, 'old.ts'), join(top, 'new.ts'))
  const { ref: after } = await snap()
  const byOld = (await witness.unifiedDiff(before, after, ['old.ts']))?.text
  expect(byOld).toContain('rename to new.ts\n')
  expect((await witness.unifiedDiff(before, after, ['new.ts']))?.text).toBe(byOld)
  expect((await witness.unifiedDiff(before, after, ['untouched.ts']))?.text).toBe('')
})

test('what cannot be looked at makes the report partial, on either side', async () => {
  put('a.ts', 'a')
  const { ref: before } = await snap()
  // A path beyond the longest that the system takes at once.
  const script = 'for i in $(seq 20); do mkdir "$1"; cd "$1"; done; echo x > "$1"'
  spawnSync('sh', ['-c', script, 'sh', 'n'.repeat(230)], { cwd: top })
  const { ref: after, notes } = await snap()
  spawnSync('rm', ['-rf', join(top, 'n'.repeat(230))])
  expect(notes.join()).toContain('could not be read')
  for (const [from, to] of [
    [before, after],
    [after, before],
    [after, after],
  ] as const) {
    const report = await witness.changes(from, to)
    expect(report).toMatchObject({ status: 'partial', changes: [] })
    expect(report.doubts.join()).toContain('its changes are unknown')
  }
})

test('without a git program the sweep leaves the kept contents alone', async () => {
  put('a.ts', 'a')
  const { ref } = await snap(gitless)
  await expect(gitless.sweep([])).resolves.toBe(0)
  put('a.ts', 'b\n')
  const { ref: later } = await snap(gitless)
  expect(await gitless.changes(ref, later)).toMatchObject({ changes: [{ path: 'a.ts', addedLines: null }] })
})
