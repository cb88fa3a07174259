import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { projectRepository, type WorkFolder } from '../../test/support/git-repository.ts'
import { readIndexFile } from './index-file.ts'

function read(repo: WorkFolder, objectFormat = 'sha1'): string[] | null {
  const lines: string[] = []
  const complete = readIndexFile(readFileSync(repo.path('.git/index')), objectFormat, (record) => {
    const { mode, oid } = record.state()
    const tag = record.skipWorktree ? 'S' : record.assumeUnchanged ? 'h' : 'H'
    lines.push(`${tag} ${mode} ${oid} ${record.stage}\t${record.path}`)
  })
  return complete ? lines : null
}

function listIndexEntries(repo: WorkFolder): string[] {
  return repo.git('ls-files', '-z', '-v', '-s').split('\0').filter(Boolean)
}

test.each(['sha1', 'sha256'])('reads what git lists, with flags and long names (%s)', (objectFormat) => {
  const repo = projectRepository(`--object-format=${objectFormat}`)
  for (let length = 1; length < 20; length += 1) repo.put('n'.repeat(length), `${length}\n`)
  repo.put(`${'d'.repeat(250)}/`.repeat(14) + 'f'.repeat(250), 'deep\n')
  repo.put(`${'d'.repeat(250)}/`.repeat(15) + 'f'.repeat(200), 'deep\n')
  repo.put('x'.repeat(200), 'x\n')
  repo.git('add', '.')
  repo.git('update-index', '--skip-worktree', 'README.md')
  repo.git('update-index', '--assume-unchanged', 'lib/util.ts')
  expect(read(repo, objectFormat)).toEqual(listIndexEntries(repo))
})

test('reads the sides of a conflict', () => {
  const repo = projectRepository()
  repo.git('checkout', '-qb', 'topic')
  repo.put('README.md', 'theirs\n')
  repo.commit('Theirs')
  repo.git('checkout', '-q', 'main')
  repo.put('README.md', 'mine\n')
  repo.commit('Mine')
  repo.gitFails('merge', 'topic')
  // git marks a conflicted entry with M.
  expect(read(repo)).toEqual(listIndexEntries(repo).map((line) => line.replace(/^M/, 'H')))
})

test('leaves version 4, a split index and a sparse index to git', () => {
  const compressed = projectRepository()
  compressed.git('update-index', '--index-version', '4')
  expect(read(compressed)).toBeNull()
  const split = projectRepository()
  split.git('update-index', '--split-index')
  expect(read(split)).toBeNull()
  const sparse = projectRepository()
  sparse.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'lib')
  expect(read(sparse)).toBeNull()
})
