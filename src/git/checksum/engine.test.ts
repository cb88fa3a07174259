import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ChangeReport } from '../../domain/track/changes.ts'
import type { SnapshotRef } from '../../ports/work-tree.ts'
import { checksumChanges, checksumSnapshot, checksumTouched, checksumUnifiedDiff } from './engine.ts'

let home = ''
let top = ''
let taken = 0

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'checksum-'))
  top = join(home, 'tree')
  mkdirSync(top)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(top, path)), { recursive: true })
  writeFileSync(join(top, path), content)
}

function remove(path: string): void {
  rmSync(join(top, path), { recursive: true })
}

async function snap(reuse?: SnapshotRef) {
  taken += 1
  const directory = join(home, `snapshot-${taken}`)
  return checksumSnapshot({
    top,
    prefix: '',
    directory,
    ...(reuse === undefined ? {} : { reuse: reuse.directory }),
  })
}

/** What a piece of work changed, with and without reuse of the first scan: both must say the same. */
async function during(work: () => void): Promise<ChangeReport> {
  const { ref: before } = await snap()
  work()
  const { ref: cold } = await snap()
  const { ref: warm } = await snap(before)
  expect(warm.id).toBe(cold.id)
  const report = await checksumChanges(before, warm)
  expect(await checksumChanges(before, cold)).toEqual(report)
  return report
}

const LETTERS = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const

function told({ changes }: ChangeReport): readonly string[] {
  return changes.map(({ change, path, from, typeChanged }) => {
    return `${typeChanged ? 'T' : LETTERS[change]} ${from === undefined ? path : `${from}>${path}`}`
  })
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
  expect(report.status).toBe('verified')
  expect(told(report)).toEqual(['D b.py', 'R c.txt>d.txt', 'M src/a.ts', 'A src/new.ts'])
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
    expect(report).toMatchObject({ status: 'verified', changes: [] })
  })

  test('when a file was added and deleted again', async () => {
    put('a.ts', 'a')
    expect(told(await during(() => [put('b.ts', 'b'), remove('b.ts')]))).toEqual([])
  })
})

test('sees an edit that keeps size and modification time', async () => {
  put('a.ts', 'aaaa')
  utimesSync(join(top, 'a.ts'), 1_000_000, 1_000_000)
  const report = await during(() => {
    put('a.ts', 'bbbb')
    utimesSync(join(top, 'a.ts'), 1_000_000, 1_000_000)
  })
  expect(told(report)).toEqual(['M a.ts'])
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
  expect(told(report)).toEqual(
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
  expect(told(report)).toEqual(['A circle', 'A outside', 'A pipe'])
})

test('leaves out what ignore files, version control and package managers own', async () => {
  put('.gitignore', 'dist/\n*.log\n!keep.log\n')
  put('packages/x/.gitignore', '!debug.log\n/out\n')
  for (const path of ['dist/a.js', 'a.log', 'node_modules/x/i.js', '.git/HEAD', 'packages/x/out/o.js'])
    put(path, 'x')
  for (const path of ['keep.log', 'packages/x/debug.log', 'packages/y/out/o.js', 'out.ts']) put(path, 'x')
  const { paths } = await snap()
  expect(paths).toEqual([
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
  expect((await snap()).paths).toEqual(['.waymark/processes/deploy/p.yaml', 'sub/.waymark/processes/p.yaml'])
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
  expect(told(report)).toEqual([])
  expect(report.ignored).toEqual({ added: ['.env.new'], modified: ['.env'], deleted: ['.env.old'] })
})

test('a new or removed ignore rule adds and deletes nothing, but is told', async () => {
  put('.gitignore', 'build/\n')
  put('build/out.js', 'x')
  put('notes.txt', 'x')
  const report = await during(() => put('.gitignore', 'notes.txt\n'))
  expect(told(report)).toEqual(['M .gitignore'])
  expect(report.notes.map((note) => note.split(' ')[0])).toEqual(['notes.txt', 'build/out.js'])
})

test('never looks into a linked work tree', async () => {
  put('a.ts', 'a')
  const report = await during(() => {
    put('.worktrees/x/.git', 'gitdir: /somewhere/.git/worktrees/x\n')
    put('.worktrees/x/a.ts', 'a')
  })
  expect(told(report)).toEqual([])
  expect(report.notes).toEqual(['The linked work tree .worktrees/x/ was not looked into.'])
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

test('pairs renames by content, the same name first, and never by emptiness', async () => {
  for (const path of ['a/x.ts', 'a/y.ts']) put(path, 'same')
  put('empty', '')
  const report = await during(() => {
    mkdirSync(join(top, 'b'))
    for (const name of ['x.ts', 'y.ts']) renameSync(join(top, 'a', name), join(top, 'b', name))
    renameSync(join(top, 'empty'), join(top, 'hollow'))
  })
  expect(told(report)).toEqual(['R a/x.ts>b/x.ts', 'R a/y.ts>b/y.ts', 'D empty', 'A hollow'])
})

test('counts no lines of binary or large files', async () => {
  put('a.bin', Buffer.from([0, 1]))
  const report = await during(() => {
    put('a.bin', Buffer.from([0, 2]))
    put('big.txt', 'x\n'.repeat(3_000_000))
  })
  expect(report.status).toBe('verified')
  expect(report.changes.map(({ path, addedLines }) => [path, addedLines])).toEqual([
    ['a.bin', null],
    ['big.txt', null],
  ])
})

describe('a lost snapshot', () => {
  test.each(['removed', 'cut short', 'altered'])('is unknown, never "no changes": %s', async (how) => {
    put('a.ts', 'a')
    const { ref: before } = await snap()
    const { ref: after } = await snap()
    const manifest = join(before.directory, 'manifest')
    if (how === 'removed') rmSync(before.directory, { recursive: true })
    if (how === 'cut short') spawnSync('truncate', ['-s', '-5', manifest])
    if (how === 'altered') spawnSync('sed', ['-i', 's/a\\.ts/b.ts/', manifest])
    for (const [from, to] of [
      [before, after],
      [after, before],
    ] as const) {
      expect(await checksumChanges(from, to)).toMatchObject({ status: 'unknown', changes: [] })
      expect(await checksumTouched(from, to)).toBeNull()
      expect(await checksumUnifiedDiff(from, to)).toBeNull()
    }
  })

  test('is no hindrance to the next scan', async () => {
    put('a.ts', 'a')
    const { ref } = await snap()
    rmSync(ref.directory, { recursive: true })
    expect((await snap(ref)).ref.id).toBe(ref.id)
  })
})

test('answers which paths differ, both names of a rename', async () => {
  put('a.ts', 'a')
  put('b.ts', 'b')
  const { ref: before } = await snap()
  renameSync(join(top, 'a.ts'), join(top, 'c.ts'))
  expect(await checksumTouched(before, (await snap()).ref)).toEqual(['a.ts', 'c.ts'])
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
  const { ref: after } = await snap(before)
  const diff = (await checksumUnifiedDiff(before, after)) ?? ''
  const applied = spawnSync('git', ['apply', '--unsafe-paths', '-'], {
    cwd: copy,
    input: diff,
    encoding: 'utf8',
  })
  expect(applied.stderr).toBe('')
  expect(spawnSync('diff', ['-r', copy, top], { encoding: 'utf8' }).stdout).toBe('')
})

test('the diff of one path is found by its old and its new name, and is null without its contents', async () => {
  put('old.ts', 'x\n')
  put('a.bin', Buffer.from([0, 1]))
  const { ref: before } = await snap()
  renameSync(join(top, 'old.ts'), join(top, 'new.ts'))
  put('a.bin', Buffer.from([0, 2]))
  const { ref: after } = await snap()
  const byOld = await checksumUnifiedDiff(before, after, ['old.ts'])
  expect(byOld).toContain('rename to new.ts\n')
  expect(await checksumUnifiedDiff(before, after, ['new.ts'])).toBe(byOld)
  expect(await checksumUnifiedDiff(before, after, ['a.bin'])).toBeNull()
  expect(await checksumUnifiedDiff(before, after, ['untouched.ts'])).toBe('')
})

test('contents outlive the snapshots they were carried from', async () => {
  for (let i = 0; i < 12; i++) put(`f${i}.ts`, `${i}\n`)
  let { ref } = await snap()
  for (let i = 0; i < 12; i++) {
    put(`f${i}.ts`, `${i} edited\n`)
    const next = await snap(ref)
    rmSync(ref.directory, { recursive: true })
    ref = next.ref
  }
  expect(readdirSync(ref.directory).length).toBeLessThan(12)
  rmSync(join(top, 'f3.ts'))
  const { ref: last } = await snap(ref)
  expect(await checksumUnifiedDiff(ref, last)).toContain('-3 edited\n')
})

test('what cannot be looked at makes the report partial, on either side', async () => {
  put('a.ts', 'a')
  const { ref: before } = await snap()
  // A path beyond the longest that the system takes at once.
  const script = 'for i in $(seq 20); do mkdir "$1"; cd "$1"; done; echo x > "$1"'
  spawnSync('sh', ['-c', script, 'sh', 'n'.repeat(230)], { cwd: top })
  const { ref: after, notes } = await snap()
  spawnSync('rm', ['-rf', join(top, 'n'.repeat(230))])
  expect(notes.join()).toContain('could not be looked at (ENAMETOOLONG)')
  for (const [from, to] of [
    [before, after],
    [after, before],
    [after, after],
  ] as const) {
    const report = await checksumChanges(from, to)
    expect(report).toMatchObject({ status: 'partial', changes: [] })
    expect(report.doubts.join()).toContain('what changed there is not known')
  }
})

test('a top that is not there fails', async () => {
  remove('')
  await expect(snap()).rejects.toThrow('ENOENT')
})
