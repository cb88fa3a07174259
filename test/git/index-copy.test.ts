import { lstatSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWitness } from '../../src/git/witness.ts'
import { projectRepository, temporaryFolder, type WorkFolder } from '../support/git-repository.ts'

const longAgo = 1_700_000_000

/** A repository whose large file is as new as its index, as after a clone. */
function racyRepository(): WorkFolder {
  const repo = projectRepository()
  repo.put('data/large.txt', 'a\n'.repeat(1024 * 1024))
  utimesSync(join(repo.top, 'data/large.txt'), longAgo, longAgo)
  repo.commit('Large')
  utimesSync(join(repo.top, '.git/index'), longAgo, longAgo)
  return repo
}

function started(repo: WorkFolder) {
  const stateFolder = temporaryFolder()
  const witness = createWitness({ stateFolder, clock: { now: () => Date.now() } })
  const take = async (name: string) => (await witness.snapshot({ folder: repo.top, name })).ref
  const copies = () =>
    readdirSync(stateFolder, { recursive: true, withFileTypes: true }).filter(({ parentPath }) =>
      parentPath.endsWith('indexes'),
    )
  return { witness, take, copies }
}

test('refreshes a copy of an index that is as new as large files, and never the index', async () => {
  const repo = racyRepository()
  const index = join(repo.top, '.git/index')
  const before = readFileSync(index)
  const { take, copies } = started(repo)
  for (const name of ['first', 'second', 'third']) await take(name)
  const [copy, ...more] = copies()
  expect(more).toEqual([])
  expect(lstatSync(join(copy?.parentPath ?? '', copy?.name ?? '')).mtimeMs / 1000).toBeGreaterThan(
    longAgo + 1,
  )
  expect(readFileSync(index).equals(before)).toBe(true)
  expect(lstatSync(index).mtimeMs).toBe(longAgo * 1000)
})

test('finds an edit of the same size and time after the copy was refreshed', async () => {
  const repo = racyRepository()
  const { witness, take } = started(repo)
  for (const name of ['first', 'second', 'third']) await take(name)
  const start = await take('start')
  const file = join(repo.top, 'data/large.txt')
  writeFileSync(file, `b\n${'a\n'.repeat(1024 * 1024 - 1)}`)
  utimesSync(file, longAgo, longAgo)
  const end = await take('end')
  expect((await witness.changes(start, end)).changes).toMatchObject([{ path: 'data/large.txt' }])
})

test('replaces the copy when the index changes', async () => {
  const repo = racyRepository()
  const { witness, take, copies } = started(repo)
  const start = await take('first')
  const [old] = copies()
  repo.put('src/more.ts', 'more\n')
  repo.git('add', 'src/more.ts')
  utimesSync(join(repo.top, '.git/index'), longAgo, longAgo)
  const end = await take('second')
  await take('third')
  expect(copies().map(({ name }) => name)).not.toEqual([old?.name])
  expect(copies()).toHaveLength(1)
  expect((await witness.changes(start, end)).changes).toMatchObject([{ path: 'src/more.ts' }])
})

test('copies no index whose files are older', async () => {
  const repo = racyRepository()
  utimesSync(join(repo.top, '.git/index'), longAgo + 10, longAgo + 10)
  const { take, copies } = started(repo)
  for (const name of ['first', 'second']) await take(name)
  expect(copies()).toEqual([])
})
