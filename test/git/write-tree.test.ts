import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type FileWrite, readPresent, writeFiles } from '../../src/git/write-tree.ts'
import { temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { swapFolder } from '../support/swapped-folder.ts'

function presentHash(top: string, path: string): string | null {
  const present = readPresent(top, path)
  if (present === null) return null
  if ('reason' in present) throw new Error(`${path}: ${present.reason}`)
  return present.hash
}

function file(content: string | Buffer, mode: '100644' | '100755' | '120000' = '100644') {
  return { mode, content: Buffer.from(content) }
}

/** Writes over whatever is there now. */
function over(top: string, path: string, entry: FileWrite['entry']): FileWrite {
  return { path, entry, expected: presentHash(top, path) }
}

function folder(): WorkFolder {
  return new WorkFolder(temporaryFolder())
}

function drafts(top: string): readonly string[] {
  return readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'))
}

describe('writing', () => {
  test('replaces, creates and removes files, with modes and links', async () => {
    const tree = folder()
    const { top } = tree
    tree.put('a.txt', 'old\n')
    tree.put('gone/deep/b.txt', 'b\n')
    tree.put('kept/c.txt', 'c\n')
    tree.put('kept/d.txt', 'd\n')
    const binary = randomBytes(5 * 1024 * 1024)
    const done = await writeFiles(top, [
      over(top, 'a.txt', file('new\r\n')),
      over(top, 'new/folder/run.sh', file('#!/bin/sh\n', '100755')),
      over(top, 'link', file('a.txt', '120000')),
      over(top, 'kept/c.txt', file('../a.txt', '120000')),
      over(top, 'kept/d.txt', null),
      over(top, 'gone/deep/b.txt', null),
      over(top, 'big.bin', file(binary)),
    ])
    expect(done).toMatchObject({ refused: [], left: [] })
    expect(done.written).toHaveLength(7)
    expect(tree.read('a.txt')).toBe('new\r\n')
    expect(statSync(tree.path('new/folder/run.sh')).mode & 0o111).not.toBe(0)
    expect(statSync(tree.path('a.txt')).mode & 0o111).toBe(0)
    expect(readlinkSync(tree.path('link'))).toBe('a.txt')
    expect(readlinkSync(tree.path('kept/c.txt'))).toBe('../a.txt')
    expect(existsSync(tree.path('kept/d.txt'))).toBe(false)
    expect(existsSync(tree.path('gone'))).toBe(false)
    expect(readFileSync(tree.path('big.bin')).equals(binary)).toBe(true)
    expect(drafts(top)).toEqual([])
  })

  test('changes only the mode, and keeps who may read a file', async () => {
    const tree = folder()
    tree.put('run.sh', 'x\n')
    tree.put('private.txt', 'x\n')
    chmodSync(tree.path('private.txt'), 0o600)
    await writeFiles(tree.top, [
      over(tree.top, 'run.sh', file('x\n', '100755')),
      over(tree.top, 'private.txt', file('y\n')),
    ])
    expect(statSync(tree.path('run.sh')).mode & 0o100).toBe(0o100)
    expect(statSync(tree.path('private.txt')).mode & 0o777).toBe(0o600)
  })

  test('replaces a link, not the file it leads to', async () => {
    const tree = folder()
    tree.put('target.txt', 'target\n')
    tree.link('target.txt', 'a.txt')
    await writeFiles(tree.top, [over(tree.top, 'a.txt', file('new\n'))])
    expect(tree.read('target.txt')).toBe('target\n')
    expect(lstatSync(tree.path('a.txt')).isSymbolicLink()).toBe(false)
  })

  test('puts a folder where a file is removed', async () => {
    const tree = folder()
    tree.put('c', 'c\n')
    const done = await writeFiles(tree.top, [
      { path: 'c/d.txt', entry: file('d\n'), expected: null },
      over(tree.top, 'c', null),
    ])
    expect(done.refused).toEqual([])
    expect(tree.read('c/d.txt')).toBe('d\n')
  })

  test('renames a file only in case', async () => {
    const tree = folder()
    tree.put('README.md', 'x\n')
    const expected = presentHash(tree.top, 'Readme.md')
    const done = await writeFiles(tree.top, [
      { path: 'Readme.md', entry: file('x\n'), expected },
      over(tree.top, 'README.md', null),
    ])
    expect(done.refused).toEqual([])
    expect(readdirSync(tree.top)).toEqual(['Readme.md'])
  })

  test('writes 1,000 files', async () => {
    const tree = folder()
    const writes = Array.from({ length: 1000 }, (_, at) =>
      over(tree.top, `d${at % 10}/f${at}.txt`, file(`${at}\n`)),
    )
    expect((await writeFiles(tree.top, writes)).written).toHaveLength(1000)
    expect(tree.read('d7/f997.txt')).toBe('997\n')
  })
})

describe('refusing', () => {
  const cases: readonly (readonly [string, string, (tree: WorkFolder) => void])[] = [
    ['outside', '../x.txt', () => undefined],
    ['outside', '/etc/x', () => undefined],
    ['git', '.git/config', () => undefined],
    ['git', 'sub/.GIT/hooks/post-checkout', () => undefined],
    ['git', 'GIT~1/config', () => undefined],
    ['git', '.g\u200cit/config', () => undefined],
    ['git', '.git::$INDEX_ALLOCATION/config', () => undefined],
    ['behind_link', 'out/x.txt', (tree) => tree.link('../elsewhere', 'out')],
    ['behind_link', 'in/x.txt', (tree) => [mkdirSync(tree.path('real')), tree.link('real', 'in')]],
    ['below_file', 'a.txt/x.txt', (tree) => tree.put('a.txt', 'a\n')],
    ['folder', 'd', (tree) => tree.put('d/x.txt', 'x\n')],
    ['repository', 'nested/x.txt', (tree) => tree.put('nested/.git/HEAD', 'ref: refs/heads/main\n')],
    ['repository', 'sub/deep/x.txt', (tree) => tree.put('sub/.git', 'gitdir: ../.git/modules/sub\n')],
    ['invalid', 'a\0b', () => undefined],
    ['empty', '', () => undefined],
  ]

  test.each(cases)('as %s: %j, and writes nothing of the others', async (reason, path, prepare) => {
    const tree = new WorkFolder(join(temporaryFolder(), 'tree'))
    tree.put('other.txt', 'old\n')
    tree.put('../elsewhere/x.txt', 'outside\n')
    prepare(tree)
    const done = await writeFiles(tree.top, [
      over(tree.top, 'other.txt', file('new\n')),
      { path, entry: file('new\n'), expected: null },
    ])
    expect(done.written).toEqual([])
    expect(done.refused).toMatchObject([{ path, refusal: { reason } }])
    expect(tree.read('other.txt')).toBe('old\n')
    expect(tree.read('../elsewhere/x.txt')).toBe('outside\n')
    expect(drafts(dirname(tree.top))).toEqual([])
  })

  test('content that is not what was expected, a new file, and a missing one', async () => {
    const tree = folder()
    tree.put('changed.txt', 'one\n')
    const expected = presentHash(tree.top, 'changed.txt')
    tree.put('changed.txt', 'newer\n')
    tree.put('appeared.txt', 'newer\n')
    const done = await writeFiles(tree.top, [
      { path: 'changed.txt', entry: file('x\n'), expected },
      { path: 'appeared.txt', entry: null, expected: null },
      { path: 'vanished.txt', entry: file('x\n'), expected },
    ])
    expect(done.written).toEqual([])
    expect(done.refused.map(({ refusal }) => refusal.reason)).toEqual(['changed', 'changed', 'changed'])
    expect(tree.read('changed.txt')).toBe('newer\n')
    expect(tree.read('appeared.txt')).toBe('newer\n')
  })

  test('a pipe, without waiting for a writer', async () => {
    const tree = folder()
    spawnSync('mkfifo', [tree.path('pipe')])
    const done = await writeFiles(tree.top, [{ path: 'pipe', entry: file('x\n'), expected: null }])
    expect(done.refused).toMatchObject([{ refusal: { reason: 'special' } }])
  })

  test('a folder that becomes a link while files are written', async () => {
    const tree = new WorkFolder(join(temporaryFolder(), 'tree'))
    tree.put('d/a.txt', 'a\n')
    tree.put('../elsewhere/a.txt', 'outside\n')
    await swapFolder(tree.path('d'), dirname(tree.path('../elsewhere/a.txt')))
    for (let at = 0; at < 300; at += 1) {
      const present = readPresent(tree.top, 'd/a.txt')
      const expected = present !== null && 'hash' in present ? present.hash : null
      await writeFiles(tree.top, [{ path: 'd/a.txt', entry: file(`${at}\n`), expected }])
      await writeFiles(tree.top, [{ path: `d/new-${at}.txt`, entry: file('x\n'), expected: null }])
    }
    expect(tree.read('../elsewhere/a.txt')).toBe('outside\n')
    expect(readdirSync(dirname(tree.path('../elsewhere/a.txt')))).toEqual(['a.txt'])
  })
})
