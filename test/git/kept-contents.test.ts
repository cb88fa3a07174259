import { randomBytes } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SnapshotRef, WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import { createWitness } from '../../src/git/witness.ts'
import { amount, soakTest } from '../support/amount.ts'
import { projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'

const megabyte = 1024 * 1024
const oneDay = 24 * 60 * 60 * 1000

/** What a folder takes on disk; a file with several names counts once. */
function sizeOf(folder: string): number {
  const seen = new Map<number, number>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const { ino, size } = lstatSync(join(entry.parentPath, entry.name))
    if (entry.isFile()) seen.set(ino, size)
  }
  return [...seen.values()].reduce((sum, size) => sum + size, 0)
}

async function take(witness: WorkTreeWitness, folder: string, name: string): Promise<SnapshotRef> {
  const { ref } = await witness.snapshot({ folder, name })
  await witness.settle()
  return ref
}

async function someTasks(repo: WorkFolder, witness: WorkTreeWitness): Promise<void> {
  for (let task = 0; task < amount({ test: 3, soak: 10 }); task += 1) {
    const start = await take(witness, repo.top, `start-${task}`)
    repo.append('lib/util.ts', `edit ${task}\n`)
    const end = await take(witness, repo.top, `end-${task}`)
    const { changes } = await witness.changes(start, end)
    expect(changes).toMatchObject([{ path: 'lib/util.ts', addedLines: 1 }])
  }
}

const files = amount({ test: 2, soak: 10 })

soakTest('megabytes of unchanged untracked files beside several tasks are kept once', async () => {
  const repo = projectRepository()
  for (let file = 0; file < files; file += 1) repo.put(`data/${file}.bin`, randomBytes(3 * megabyte))
  const stateFolder = temporaryFolder()
  await someTasks(repo, createWitness({ stateFolder, clock: { now: () => Date.now() } }))
  expect(sizeOf(stateFolder)).toBeGreaterThan(3 * files * megabyte)
  expect(sizeOf(stateFolder)).toBeLessThan((3 * files + 2) * megabyte)
})

soakTest('without git, too, text that stays is kept once', async () => {
  const folder = new WorkFolder(temporaryFolder())
  folder.put('lib/util.ts', 'one\n')
  for (let file = 0; file < files; file += 1)
    folder.put(`data/${file}.txt`, randomBytes(megabyte).toString('hex'))
  const stateFolder = temporaryFolder()
  await someTasks(folder, createWitness({ stateFolder, clock: { now: () => Date.now() } }))
  expect(sizeOf(stateFolder)).toBeLessThan((2 * files + 2) * megabyte)
})

test('what no snapshot names goes, and what one names stays', async () => {
  const repo = projectRepository()
  const stateFolder = temporaryFolder()
  let now = Date.now()
  const witness = createWitness({ stateFolder, clock: { now: () => now } })
  repo.put('dropped.bin', randomBytes(3 * megabyte))
  await take(witness, repo.top, 'dropped')
  repo.remove('dropped.bin')
  repo.put('kept.txt', 'as it was at the start\n')
  const start = await take(witness, repo.top, 'start')
  repo.put('kept.txt', 'as it is\n')
  const end = await take(witness, repo.top, 'end')
  expect(sizeOf(stateFolder)).toBeGreaterThan(3 * megabyte)
  for (const day of [1, 2, 3]) {
    now += day * oneDay
    await witness.sweep([start, end])
  }
  expect(sizeOf(stateFolder)).toBeLessThan(megabyte)
  rmSync(repo.path('.git'), { recursive: true })
  expect((await witness.unifiedDiff(start, end))?.text).toContain('-as it was at the start\n+as it is')
})

test('a snapshot that is being taken keeps everything where it is', async () => {
  const repo = projectRepository()
  const stateFolder = temporaryFolder()
  let now = Date.now()
  const witness = createWitness({ stateFolder, clock: { now: () => now } })
  repo.put('big.bin', randomBytes(3 * megabyte))
  const kept = await take(witness, repo.top, 'kept')
  const begun = join(stateFolder, 'snapshots/begun')
  renameSync((await take(witness, repo.top, 'begun')).directory, begun)
  rmSync(join(begun, 'snapshot.json'))
  now += oneDay / 2
  await witness.sweep([kept])
  expect(sizeOf(join(stateFolder, 'contents'))).toBeGreaterThan(3 * megabyte)
})

test('snapshots of several processes go on while others tidy up', async () => {
  const repo = projectRepository()
  repo.put('shared.txt', 'shared\n')
  const stateFolder = temporaryFolder()
  const open = (ahead: number) => createWitness({ stateFolder, clock: { now: () => Date.now() + ahead } })
  const refs: SnapshotRef[] = []
  const lastRound = amount({ test: 2, soak: 5 })
  const taking = Array.from({ length: 3 }, async (_, at) => {
    const witness = open(0)
    for (let round = 0; round <= lastRound; round += 1) {
      repo.put(`of-${at}.txt`, `round ${round} of ${at}\n`)
      refs.push(await take(witness, repo.top, `process-${at}-${round}`))
    }
  })
  const pruning = Array.from({ length: lastRound + 1 }, () => open(0).sweep([]))
  await Promise.all([...taking, ...pruning])
  const witness = open(0)
  const from = refs.find(({ directory }) => directory.endsWith('process-0-0'))
  const to = refs.find(({ directory }) => directory.endsWith(`process-0-${lastRound}`))
  if (from === undefined || to === undefined) throw new Error('The snapshots were not taken.')
  expect((await witness.unifiedDiff(from, to, ['of-0.txt']))?.text).toContain(
    `-round 0 of 0\n+round ${lastRound} of 0`,
  )
})

test('beyond its budget the project is told, and reports stay exact without lines', async () => {
  const repo = projectRepository()
  const stateFolder = temporaryFolder()
  const witness = createWitness({
    stateFolder,
    clock: { now: () => Date.now() },
    contentBudget: megabyte,
  })
  repo.put('big.bin', randomBytes(2 * megabyte))
  const start = await take(witness, repo.top, 'start')
  repo.put('more.txt', 'more\n')
  const end = await witness.snapshot({ folder: repo.top, name: 'end' })
  expect(end.notes.join(' ')).toMatch(/take 2 of 1 MB, so those of further files are not kept.*waymark prune/)
  const { changes, status } = await witness.changes(start, end.ref)
  expect(changes).toMatchObject([{ path: 'more.txt', change: 'added', addedLines: null }])
  expect(status).toBe('exact')
})

test('snapshots that hold their contents themselves can still be read', async () => {
  const repo = projectRepository()
  const stateFolder = temporaryFolder()
  const witness = createWitness({ stateFolder, clock: { now: () => Date.now() } })
  repo.put('notes.txt', 'before\n')
  const start = await take(witness, repo.top, 'start')
  inItself(start, stateFolder)
  repo.put('notes.txt', 'after\n')
  const end = await take(witness, repo.top, 'end')
  expect((await witness.unifiedDiff(start, end))?.text).toContain('-before\n+after')
})

// As every version before kept it.
function inItself({ directory }: SnapshotRef, stateFolder: string): void {
  const file = join(directory, 'snapshot.json')
  const { repositories, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
  const [{ contents, settings: _, leftOut: __, ...repository }] = repositories
  writeFileSync(file, JSON.stringify({ ...rest, repositories: [repository] }))
  renameSync(join(contents, 'pack'), join(directory, 'objects/pack'))
  rmSync(join(stateFolder, 'contents'), { recursive: true })
}

test('a tree that was known to be kept, and went with its snapshots, is kept again for the next one', async () => {
  const repo = projectRepository()
  const stateFolder = temporaryFolder()
  let now = Date.now()
  const witness = createWitness({ stateFolder, clock: { now: () => now } })
  const packs = () => readdirSync(join(stateFolder, 'contents/sha1/pack'))
  for (const name of ['one', 'two']) await take(witness, repo.top, name)
  repo.put('big.bin', randomBytes(3 * megabyte))
  repo.put('small.txt', 'small\n')
  await take(witness, repo.top, 'big')
  const before = packs()
  repo.commit('Third')
  const other = await take(witness, repo.top, 'other')
  for (const day of [1, 2, 3]) {
    now += day * oneDay
    await witness.sweep([other])
  }
  expect(packs()).not.toEqual(expect.arrayContaining(before))
  repo.git('reset', '-q', '--hard', 'HEAD~1')
  const start = await take(witness, repo.top, 'start')
  repo.append('lib/util.ts')
  repo.commit('Fourth')
  const end = await take(witness, repo.top, 'end')
  rmSync(repo.path('.git'), { recursive: true })
  const { changes } = await witness.changes(start, end)
  expect(changes).toMatchObject([{ path: 'lib/util.ts', change: 'modified' }])
})
