import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import { createWitness } from '../../src/git/witness.ts'
import { amount } from '../support/amount.ts'
import { emptyRepository, projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { makeCanary, plant } from './canary.ts'
import { testWitness } from './watch.ts'

let witness: WorkTreeWitness

beforeEach(() => {
  witness = testWitness()
})

/** What git itself answers once everything is staged. */
function gitsOwn(repo: WorkFolder): string {
  repo.git('add', '-A')
  return repo.git('write-tree').trim()
}

test('is the tree that git would write of everything on disk', async () => {
  const repo = projectRepository()
  repo.append('lib/util.ts')
  repo.put('new/deep/er/file.ts', 'new\n')
  repo.put('new/deep.txt', 'sorted beside its folder\n')
  repo.put('src/staged.ts', 'staged\n')
  repo.git('add', 'src/staged.ts')
  repo.append('src/staged.ts')
  repo.put('odd/a\nb', 'x')
  repo.put('odd\nfolder/é', 'x')
  repo.link('lib/util.ts', 'link')
  repo.remove('README.md')
  repo.move('src/api/routes.ts', 'src/api.ts')
  const hash = await witness.treeHash(repo.top)
  expect(hash).toBe(gitsOwn(repo))
  repo.commit('All of it')
  expect(await witness.treeHash(repo.top)).toBe(hash)
})

const changes: readonly (readonly [string, (repo: WorkFolder) => void])[] = [
  ['an edit', (repo) => repo.append('lib/util.ts')],
  ['a new file', (repo) => repo.put('src/new.ts', 'new\n')],
  ['a deletion', (repo) => repo.remove('README.md')],
  ['the last file of a folder', (repo) => repo.remove('src/api/routes.ts')],
  ['a rename', (repo) => repo.move('lib/util.ts', 'lib/tools.ts')],
  ['a mode', (repo) => chmodSync(repo.path('lib/util.ts'), 0o755)],
  ['a link in place of a file', (repo) => [repo.remove('README.md'), repo.link('src', 'README.md')]],
  ['a folder in place of a file', (repo) => [repo.remove('README.md'), repo.put('README.md/a', 'x')]],
  ['a file in place of a folder', (repo) => [repo.remove('src/api'), repo.put('src/api', 'x')]],
  ['a link in place of a folder', (repo) => [repo.move('lib', 'real'), repo.link('real', 'lib')]],
  ['a process', (repo) => repo.put('.waymark/processes/p.yaml', 'process: {}\n')],
  ['everything gone', (repo) => [repo.remove('README.md'), repo.remove('lib'), repo.remove('src')]],
]

test('a change of any kind changes it, a commit of that does not, a revert restores it', async () => {
  const repo = projectRepository()
  const before = await witness.treeHash(repo.top)
  for (const [kind, change] of changes.filter((_, at) => at % amount({ test: 3, soak: 1 }) === 0)) {
    change(repo)
    const after = await witness.treeHash(repo.top)
    expect(after, kind).not.toBe(before)
    expect(after, kind).toBe(gitsOwn(repo))
    expect(await witness.treeHash(repo.top), kind).toBe(after)
    repo.commit('The change')
    expect(await witness.treeHash(repo.top), kind).toBe(after)
    repo.git('revert', '--no-edit', 'HEAD')
    expect(await witness.treeHash(repo.top), kind).toBe(before)
  }
})

describe('stays the same', () => {
  test('when files are touched, staged, taken out of the index or left in commits elsewhere', async () => {
    const repo = projectRepository()
    const hash = await witness.treeHash(repo.top)
    utimesSync(repo.path('lib/util.ts'), 1, 1)
    expect(await witness.treeHash(repo.top)).toBe(hash)
    repo.git('rm', '-q', '--cached', 'lib/util.ts')
    expect(await witness.treeHash(repo.top)).toBe(hash)
    repo.git('update-ref', '-d', 'HEAD')
    expect(await witness.treeHash(repo.top)).toBe(hash)
  })

  test("when Waymark's own files or ignored ones change, tracked or not", async () => {
    const repo = projectRepository()
    repo.put('.gitignore', 'dist/\n')
    repo.put('.waymark/processes/p.yaml', 'process: {}\n')
    const hash = await witness.treeHash(repo.top)
    repo.put('dist/a.js', 'x')
    repo.put('.waymark/waymark.db', 'x')
    repo.put('.waymark/state/snapshots/s', 'x')
    expect(await witness.treeHash(repo.top)).toBe(hash)
    repo.commit('Even committed')
    expect(await witness.treeHash(repo.top)).toBe(hash)
  })

  test('when an ignored file that was taken out of the index is committed away', async () => {
    const repo = projectRepository()
    repo.put('.gitignore', '*.log\n')
    repo.put('a.log', 'x')
    repo.git('add', '-f', 'a.log', '.gitignore')
    repo.commit('Tracked')
    repo.git('rm', '-q', '--cached', 'a.log')
    const hash = await witness.treeHash(repo.top)
    repo.git('commit', '-qm', 'Away')
    expect(await witness.treeHash(repo.top)).toBe(hash)
  })

  test('when line endings alone are other, where git normalises them', async () => {
    const repo = projectRepository()
    repo.put('.gitattributes', '* text=auto\n')
    repo.put('v.txt', 'a\nb\n')
    repo.commit('Attributes')
    const hash = await witness.treeHash(repo.top)
    repo.put('v.txt', 'a\r\nb\r\n')
    expect(await witness.treeHash(repo.top)).toBe(hash)
  })
})

test('is the same in every work tree and folder with the same content', async () => {
  const repo = projectRepository()
  const linked = new WorkFolder(join(temporaryFolder(), 'linked'))
  repo.git('worktree', 'add', '-q', linked.top)
  const hash = await witness.treeHash(repo.top)
  expect(await witness.treeHash(linked.top)).toBe(hash)
  expect(await witness.treeHash(repo.path('src/api'))).toBe(hash)
  linked.append('README.md')
  expect(await witness.treeHash(linked.top)).toBe(gitsOwn(linked))
  expect(await witness.treeHash(repo.top)).toBe(hash)
})

test.each([[], ['--object-format=sha256']])('works before the first commit %s', async (...options) => {
  const repo = emptyRepository(...options)
  const empty = await witness.treeHash(repo.top)
  repo.put('a/b.ts', 'x')
  const hash = await witness.treeHash(repo.top)
  expect(hash).not.toBe(empty)
  repo.commit('First')
  expect(await witness.treeHash(repo.top)).toBe(hash)
  expect(hash).toBe(gitsOwn(repo))
  repo.remove('a')
  expect(await witness.treeHash(repo.top)).toBe(empty)
})

test('repositories inside count by what is on disk', async () => {
  const repo = projectRepository()
  const nested = repo.in('nested')
  nested.put('f', 'f\n')
  nested.put('deep/inner/g', 'g\n')
  const plain = await witness.treeHash(repo.top)
  nested.git('init', '-q')
  nested.in('deep/inner').git('init', '-q')
  expect(await witness.treeHash(repo.top)).toBe(plain)
  nested.in('deep/inner').commit('Inner')
  expect(await witness.treeHash(repo.top)).toBe(plain)
  nested.commit('With the inner one as a submodule')
  expect(await witness.treeHash(repo.top)).toBe(plain)
  nested.append('deep/inner/g')
  const edited = await witness.treeHash(repo.top)
  expect(edited).not.toBe(plain)
  nested.in('deep/inner').commit('Moves its HEAD')
  repo.commit('And the outer one')
  expect(await witness.treeHash(repo.top)).toBe(edited)
})

test('runs nothing that the repository configures', async () => {
  const repo = projectRepository()
  repo.put('.gitattributes', '*.ts filter=evil diff=evil merge=evil\n')
  repo.commit('Attributes')
  const canary = makeCanary()
  plant(repo, canary)
  const before = await witness.treeHash(repo.top)
  repo.append('lib/util.ts')
  expect(await witness.treeHash(repo.top)).not.toBe(before)
  expect(canary.sang()).toBe(false)
})

test('without git, hashes what no ignore rule leaves out', async () => {
  const folder = new WorkFolder(join(temporaryFolder(), 'plain'))
  folder.put('.gitignore', '*.log\n')
  folder.put('a.ts', 'a')
  const before = await witness.treeHash(folder.top)
  folder.put('a.log', 'x')
  folder.put('.waymark/waymark.db', 'x')
  expect(await witness.treeHash(folder.top)).toBe(before)
  chmodSync(folder.path('a.ts'), 0o755)
  const executable = await witness.treeHash(folder.top)
  chmodSync(folder.path('a.ts'), 0o644)
  folder.put('b.ts', 'b')
  const added = await witness.treeHash(folder.top)
  folder.remove('b.ts')
  expect(spawnSync('mkfifo', [folder.path('pipe')]).status).toBe(0)
  const piped = await witness.treeHash(folder.top)
  folder.remove('pipe')
  expect(new Set([before, executable, added, piped]).size).toBe(4)
  expect(await witness.treeHash(folder.top)).toBe(before)
})

test('leaves nothing behind but what the next scan reuses, and writes nothing to the repository', async () => {
  const stateFolder = temporaryFolder()
  const own = createWitness({ stateFolder, clock: { now: () => Date.now() } })
  const repo = projectRepository()
  repo.put('new.ts', 'new\n')
  const objects = repo.git('count-objects', '-v')
  await Promise.all([own.treeHash(repo.top), own.treeHash(repo.top)])
  expect(readdirSync(join(stateFolder, 'snapshots'))).toEqual([])
  expect(repo.git('count-objects', '-v')).toBe(objects)
  const plain = temporaryFolder()
  for (let times = 0; times < 3; times += 1) await own.treeHash(plain)
  expect(readdirSync(join(stateFolder, 'snapshots'))).toHaveLength(1)
})

test('fails as a snapshot does, and leaves nothing behind', async () => {
  const stateFolder = temporaryFolder()
  const own = createWitness({ stateFolder, clock: { now: () => Date.now() } })
  const missing = join(stateFolder, 'missing')
  await expect(own.treeHash(missing)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  const bare = emptyRepository('--bare')
  await expect(own.treeHash(bare.top)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(readdirSync(join(stateFolder, 'snapshots'))).toEqual([])
  mkdirSync(missing)
  await expect(own.treeHash(missing)).resolves.toMatch(/^[0-9a-f]{64}$/)
})

test('sees what is on disk of a conflict, and of files that git is told to overlook', async () => {
  const repo = projectRepository()
  repo.git('checkout', '-qb', 'other')
  repo.put('README.md', 'theirs\n')
  repo.commit('Theirs')
  repo.git('checkout', '-q', 'main')
  repo.put('README.md', 'ours\n')
  repo.commit('Ours')
  repo.git('update-index', '--assume-unchanged', 'lib/util.ts')
  repo.gitFails('merge', '-q', 'other')
  repo.append('lib/util.ts')
  const hash = await witness.treeHash(repo.top)
  repo.git('update-index', '--no-assume-unchanged', 'lib/util.ts')
  expect(hash).toBe(gitsOwn(repo))
})
