import { chmodSync, lstatSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { lines, projectRepository } from '../support/git-repository.ts'
import { watch } from './watch.ts'

test('case 23: git mv + commit', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.git('mv', 'lib/util.ts', 'lib/tools.ts')
    repo.git('commit', '-qm', 'Rename')
  })
  expect(changes).toEqual(['R lib/util.ts>lib/tools.ts'])
  expect(report.changes[0]).toMatchObject({ addedLines: 0, deletedLines: 0 })
})

test('case 24: plain mv + small edit, uncommitted', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => {
    repo.move('lib/util.ts', 'lib/tools.ts')
    repo.append('lib/tools.ts')
  })
  expect(changes).toEqual(['R lib/util.ts>lib/tools.ts'])
  expect(report.changes[0]).toMatchObject({ addedLines: 1, deletedLines: 0 })
})

test('case 25: case-only rename', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => repo.move('lib/util.ts', 'lib/Util.ts'))
  expect(changes).toEqual(['R lib/util.ts>lib/Util.ts'])
})

test('case 26: mode change only', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => chmodSync(repo.path('lib/util.ts'), 0o755))
  expect(changes).toEqual(['M lib/util.ts'])
  expect(report.changes[0]).toMatchObject({ addedLines: 0, deletedLines: 0 })
})

test('case 27: symlink retargeted', async () => {
  const repo = projectRepository()
  repo.link('README.md', 'ln')
  repo.commit('Link')
  const { changes } = await watch(repo, () => {
    repo.remove('ln')
    repo.link('lib/util.ts', 'ln')
  })
  expect(changes).toEqual(['M ln'])
})

test('case 28: file replaced by symlink', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.remove('lib/util.ts')
    repo.link('../README.md', 'lib/util.ts')
  })
  expect(changes).toEqual(['T lib/util.ts'])
})

test('case 29: file replaced by directory', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.remove('lib/util.ts')
    repo.put('lib/util.ts/a', 'something else\n')
  })
  expect(changes).toEqual(['D lib/util.ts', 'A lib/util.ts/a'])
})

test('case 30: directory replaced by file', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.remove('lib')
    repo.put('lib', 'something else\n')
  })
  expect(changes).toEqual(['A lib', 'D lib/util.ts'])
})

test('case 31: directory replaced by symlink to other dir', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => {
    repo.move('lib', 'real')
    repo.link('real', 'lib')
  })
  expect(changes).toEqual(['A lib', 'R lib/util.ts>real/util.ts'])
})

test('case 69: newline, tab, quotes, unicode NFC+NFD, leading dash, glob, spaces, non-UTF-8', async () => {
  const repo = projectRepository()
  const odd = [
    'a\nb.txt',
    't\tb',
    'q"u.txt',
    'caf\u00e9',
    'cafe\u0301',
    '-dash',
    '*',
    'a b ',
    'back\\slash',
    ':(top)x',
  ]
  for (const name of odd) repo.put(name, `before ${name}\n`)
  repo.commit('Odd names')
  const notText = Buffer.concat([Buffer.from(`${repo.top}/n`), Buffer.from([0xff, 0xfe])])
  const { changes, report, witness, start, end } = await watch(repo, () => {
    for (const name of odd) {
      repo.append(name)
      repo.put(`new/${name}`, `something quite different in ${name}\n`)
    }
    writeFileSync(notText, 'bytes\n')
  })
  const expected = [...odd.flatMap((name) => [`M ${name}`, `A new/${name}`]), 'A n\ufffd\ufffd']
  expect([...changes].sort()).toEqual(expected.sort())
  expect(report.status).toBe('exact')
  expect(report.changes.every(({ addedLines }) => addedLines !== null)).toBe(true)
  const byName = await witness.unifiedDiff(
    start.ref,
    end.ref,
    report.changes.map(({ path }) => path),
  )
  expect(byName?.text.match(/^diff --git /gm)).toHaveLength(expected.length)
  await witness.settle()
})

test('case 70: very long path', async () => {
  const repo = projectRepository()
  const long = `${Array.from({ length: 14 }, () => 'd'.repeat(200)).join('/')}/${'f'.repeat(200)}.ts`
  const { changes } = await watch(repo, () => repo.put(long, 'deep\n'))
  expect(changes).toEqual([`A ${long}`])
})

// More than is kept of a file; in the soak run more than is kept of all.
const huge = amount({ test: 6, soak: 70 }) * 1024 * 1024

test('case 71: huge untracked file at start, untouched; another added', async () => {
  const repo = projectRepository()
  repo.put('big.bin', Buffer.alloc(huge, 1))
  const { changes, start, end } = await watch(repo, () => repo.put('other.bin', Buffer.alloc(huge, 2)))
  expect(changes).toEqual(['A other.bin'])
  expect(folderSize(start.ref.directory)).toBeLessThan(100_000)
  expect(folderSize(end.ref.directory)).toBeLessThan(100_000)
})

test('case 72: huge untracked file edited in place, same size', async () => {
  const repo = projectRepository()
  repo.put('big.bin', Buffer.alloc(huge, 1))
  const { changes, report } = await watch(repo, () => repo.put('big.bin', Buffer.alloc(huge, 2)))
  expect(changes).toEqual(['M big.bin'])
  expect(report.changes[0]).toMatchObject({ addedLines: null, deletedLines: null })
})

test('case 73: huge tracked file edited', async () => {
  const repo = projectRepository()
  repo.put('big.bin', Buffer.alloc(huge, 1))
  repo.commit('Big')
  const { changes } = await watch(repo, () => repo.append('big.bin', 'x'))
  expect(changes).toEqual(['M big.bin'])
})

test('case 74: huge untracked file renamed', async () => {
  const repo = projectRepository()
  repo.put('big.bin', Buffer.alloc(huge, 1))
  const { changes } = await watch(repo, () => repo.move('big.bin', 'big2.bin'))
  expect(changes).toEqual(['R big.bin>big2.bin'])
})

test('case 104: edit preserving size and mtime (touch -r)', async () => {
  const repo = projectRepository()
  const { atime, mtime } = lstatSync(repo.path('lib/util.ts'))
  const { changes } = await watch(repo, () => {
    repo.put('lib/util.ts', lines('utik'))
    utimesSync(repo.path('lib/util.ts'), atime, mtime)
  })
  expect(changes).toEqual(['M lib/util.ts'])
})

test('an empty folder is nothing', async () => {
  const repo = projectRepository()
  const { changes } = await watch(repo, () => mkdirSync(repo.path('empty')))
  expect(changes).toEqual([])
})

function folderSize(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .reduce((size, entry) => size + lstatSync(join(entry.parentPath, entry.name)).size, 0)
}
