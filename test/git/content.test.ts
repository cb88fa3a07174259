import { createHash } from 'node:crypto'
import { chmodSync, renameSync, utimesSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseNumstat } from '../../src/git/patch.ts'
import { amount } from '../support/amount.ts'
import { emptyRepository, lines, projectRepository, type WorkFolder } from '../support/git-repository.ts'
import { watch } from './watch.ts'

function touch(repo: WorkFolder, name: string): void {
  utimesSync(repo.path(name), new Date(), new Date(Date.now() + 5_000))
}

test('case 75: index.lock present at start and end', async () => {
  const repo = projectRepository()
  repo.put('.git/index.lock', '')
  const { changes } = await watch(repo, () => repo.append('lib/util.ts'))
  expect(changes).toEqual(['M lib/util.ts'])
})

test('case 76: commit, then same-size edit back within the same second (racy index)', async () => {
  const repo = projectRepository()
  for (let round = 0; round < amount({ test: 2, soak: 5 }); round += 1) {
    const { changes } = await watch(repo, () => {
      repo.put('lib/util.ts', lines('utik'))
      repo.commit('Same size')
      repo.put('lib/util.ts', lines('util'))
    })
    expect(changes).toEqual([])
    repo.commit('Back')
  }
})

test('a same-size edit in the second of the commit is seen', async () => {
  const repo = projectRepository()
  const names = ['utik', 'utim', 'utin', 'utip', 'utiq']
  for (const name of names.slice(0, amount({ test: 2, soak: 5 }))) {
    repo.put('lib/util.ts', lines(`${name.slice(0, 3)}a`))
    repo.git('add', '.')
    repo.git('commit', '-q', '--allow-empty', '-m', 'Base')
    const { changes } = await watch(repo, () => repo.put('lib/util.ts', lines(name)))
    expect(changes).toEqual(['M lib/util.ts'])
  }
})

test('case 77: touch only (mtime changes, content same)', async () => {
  const repo = projectRepository()
  const { changes, report } = await watch(repo, () => touch(repo, 'lib/util.ts'))
  expect(changes).toEqual([])
  expect(report.status).toBe('exact')
})

test('case 78: autocrlf=true, CRLF files touched, one edited', async () => {
  const repo = projectRepository()
  repo.git('config', 'core.autocrlf', 'true')
  for (const name of ['u.txt', 'v.txt']) repo.put(name, 'one\r\ntwo\r\n')
  repo.commit('Windows lines')
  const { changes, report } = await watch(repo, () => {
    touch(repo, 'u.txt')
    repo.append('v.txt', 'three\r\n')
  })
  expect(changes).toEqual(['M v.txt'])
  expect(report.changes[0]).toMatchObject({ addedLines: 1, deletedLines: 0 })
})

test('case 78, where the stored lines are CRLF already', async () => {
  const repo = projectRepository()
  repo.put('w.txt', 'one\r\ntwo\r\n')
  repo.commit('Stored as they are')
  repo.git('config', 'core.autocrlf', 'true')
  const { report } = await watch(repo, () => repo.append('w.txt', 'three\r\n'))
  expect(report.changes).toMatchObject([{ path: 'w.txt', addedLines: 1, deletedLines: 0 }])
})

test.each(['* text=auto', '* text=auto eol=lf', '* text=auto eol=crlf'])(
  'does not report an untouched CRLF file as modified with the attribute %s',
  async (attribute) => {
    const repo = projectRepository()
    repo.put('w.txt', 'one\r\ntwo\r\n')
    repo.commit('Stored as they are')
    const { changes } = await watch(repo, () => {
      repo.put('.gitattributes', `${attribute}\n`)
      touch(repo, 'w.txt')
    })
    expect(changes).toEqual(['A .gitattributes'])
  },
)

function pointer(content: string): string {
  const digest = createHash('sha256').update(content).digest('hex')
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${digest}\nsize ${content.length}\n`
}

/** `f.bin` is stored as a pointer, as Git LFS does it, without Git LFS. */
function withLargeFile(): WorkFolder {
  const repo = projectRepository()
  repo.put('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n')
  repo.put('f.bin', pointer('large content'))
  repo.commit('A large file')
  repo.git('config', 'filter.lfs.clean', 'exit 1')
  repo.git('config', 'filter.lfs.process', 'exit 1')
  repo.put('f.bin', 'large content')
  return repo
}

test('case 79: LFS file touched only', async () => {
  const repo = withLargeFile()
  const { changes, report } = await watch(repo, () => touch(repo, 'f.bin'))
  expect(changes).toEqual([])
  expect(report.status).toBe('exact')
})

test('case 80: LFS file edited', async () => {
  const repo = withLargeFile()
  const { changes } = await watch(repo, () => repo.put('f.bin', 'other content'))
  expect(changes).toEqual(['M f.bin'])
})

test('case 81: LFS file dirty at start, task commits it', async () => {
  const repo = withLargeFile()
  repo.put('f.bin', 'other content')
  const { changes } = await watch(repo, () => {
    const object = repo.git('hash-object', '-w', '--no-filters', pointerFile(repo, 'other content')).trim()
    repo.git('update-index', '--cacheinfo', `100644,${object},f.bin`)
    repo.git('-c', 'filter.lfs.process=', '-c', 'filter.lfs.clean=cat', 'commit', '-qm', 'Another large file')
  })
  expect(changes).toEqual([])
})

function pointerFile(repo: WorkFolder, content: string): string {
  repo.put('.git/pointer', pointer(content))
  return repo.path('.git/pointer')
}

/** `f.bin` is stored in upper case by a filter that lives in the repository's configuration. */
function withFilter(): WorkFolder {
  const repo = projectRepository()
  repo.git('config', 'filter.upper.clean', 'tr a-z A-Z')
  repo.put('.gitattributes', '*.bin filter=upper\n')
  repo.put('f.bin', 'content\n')
  // Older than the index, so that git has no reason to read it again.
  utimesSync(repo.path('f.bin'), 1_600_000_000, 1_600_000_000)
  // Times that were set in the tick in which the index is written are looked behind: then nothing is uncertain.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  repo.commit('Filtered')
  return repo
}

test('case 82: other clean filter (repo-local), file touched only', async () => {
  const repo = withFilter()
  const { changes, report } = await watch(repo, () => touch(repo, 'f.bin'))
  expect(changes).toEqual(['M f.bin ?'])
  expect(report.doubts).toEqual([expect.stringContaining('The filter "upper" was not run')])
  expect(report.status).toBe('partial')
})

test('case 83: other clean filter (repo-local), file edited', async () => {
  const repo = withFilter()
  const { changes } = await watch(repo, () => repo.append('f.bin'))
  expect(changes).toEqual(['M f.bin ?'])
})

test('case 84: merge conflict present at start, resolved by task', async () => {
  const repo = projectRepository()
  repo.git('checkout', '-qb', 'topic')
  repo.put('README.md', 'theirs\n')
  repo.commit('Theirs')
  repo.git('checkout', '-q', 'main')
  repo.put('README.md', 'mine\n')
  repo.commit('Mine')
  repo.gitFails('merge', '-q', 'topic')
  const { changes } = await watch(repo, () => {
    repo.put('README.md', 'resolved\n')
    repo.commit('Merge')
  })
  expect(changes).toEqual(['M README.md (mixed)'])
})

test('of many changes, lines and renames are what git tells of all of them together', async () => {
  const repo = emptyRepository()
  const binary = `\0${'b'.repeat(500)}`
  const large = lines('large', 50_000)
  for (let at = 0; at < 80; at += 1) repo.put(`src/f${at}.ts`, lines(`file${at}x`))
  const odd = { 'img/a.bin': binary, 'img/b.bin': `${binary}b`, 'large.txt': large, 'run.sh': 'echo\n' }
  for (const [path, content] of Object.entries(odd)) repo.put(path, content)
  repo.commit('Base')
  const { report } = await watch(repo, () => {
    for (let at = 0; at < 40; at += 1) repo.append(`src/f${at}.ts`)
    for (let at = 40; at < 60; at += 1) {
      renameSync(repo.path(`src/f${at}.ts`), repo.path(`src/moved${at}.ts`))
      if (at % 2 === 0) repo.append(`src/moved${at}.ts`)
    }
    for (let at = 60; at < 70; at += 1) repo.remove(`src/f${at}.ts`)
    for (let at = 0; at < 10; at += 1) repo.put(`src/new${at}.ts`, `export const fresh = ${at}\n`)
    renameSync(repo.path('img/a.bin'), repo.path('img/c.bin'))
    repo.put('img/b.bin', `${binary}c`)
    repo.put('large.txt', `${large}one more\n`)
    chmodSync(repo.path('run.sh'), 0o755)
  })
  repo.git('add', '-A')
  const told = parseNumstat(
    repo.git('diff', '--cached', '-M50%', '-z', '--numstat', 'HEAD').split('\0').slice(0, -1),
  )
  const found = report.changes.map(({ path, from, addedLines, deletedLines }) => ({
    path,
    ...(from !== undefined && { from }),
    count: addedLines === null ? null : { added: addedLines, deleted: deletedLines },
  }))
  const inOrder = (a: { readonly path: string }, b: { readonly path: string }) => (a.path < b.path ? -1 : 1)
  expect(found).toEqual(told.toSorted(inOrder))
  expect(found).toHaveLength(84)
})
