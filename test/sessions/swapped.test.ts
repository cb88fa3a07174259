import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createWitness } from '../../src/git/witness.ts'
import { removeContained, writeContained } from '../../src/kernel/files/contained-file.ts'
import { closeFolder, makeFolderIn, openFolder } from '../../src/kernel/files/open-folder.ts'
import { keepProjectServer } from '../../src/remote/machine/known-servers.ts'
import { logFile, logLine } from '../../src/sessions/capture/hook-queue.ts'
import { takeIngestLock } from '../../src/sessions/capture/ingest-lock.ts'
import { copiesIn, removeCopy } from '../../src/sessions/capture/limits.ts'
import { writeProjectId } from '../../src/store/record/project.ts'
import { amount } from '../support/amount.ts'
import { swapFolder } from '../support/swapped-folder.ts'
import { openCaptured } from './captured-project.ts'

const raceMs = amount({ test: 300, soak: 700 })
const minRounds = amount({ test: 40, soak: 100 })
const photo = 'holiday.jpg'

function openAttacked() {
  const project = openCaptured()
  const outside = join(project.home, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, photo), 'mine')
  return { ...project, outside }
}

async function race(round: () => void): Promise<number> {
  let rounds = 0
  for (const end = Date.now() + raceMs; Date.now() < end; rounds += 1) {
    try {
      round()
    } catch {}
  }
  return rounds
}

test('writes nothing outside while a folder on the way is swapped for a link', async () => {
  const { folder, outside } = openAttacked()
  mkdirSync(join(folder, 'own'))
  await swapFolder(join(folder, 'own'), outside)
  let written = 0
  const rounds = await race(() => {
    if (!('reason' in writeContained(folder, `own/file-${written}.txt`, 'x'))) written += 1
  })
  expect(rounds).toBeGreaterThan(minRounds)
  expect(written).toBeGreaterThan(0)
  expect(readdirSync(outside)).toEqual([photo])
})

test('makes no folder outside, and removes none, while a folder on the way is swapped for a link', async () => {
  const { folder, outside } = openAttacked()
  mkdirSync(join(folder, 'own'))
  mkdirSync(join(outside, 'inner/album'), { recursive: true })
  await swapFolder(join(folder, 'own'), outside)
  let made = 0
  await race(() => {
    if (!('reason' in writeContained(folder, `own/made-${made}/inner`, 'x'))) made += 1
    removeContained(folder, 'own/inner')
  })
  expect(made).toBeGreaterThan(0)
  expect(readdirSync(outside).sort()).toEqual([photo, 'inner'])
  expect(readdirSync(join(outside, 'inner'))).toEqual(['album'])
})

test.skipIf(process.platform !== 'linux')(
  'refuses to make a folder in one that was removed meanwhile',
  () => {
    const { folder } = openAttacked()
    mkdirSync(join(folder, 'own'))
    const open = openFolder(join(folder, 'own'))
    rmSync(join(folder, 'own'), { recursive: true })
    expect(() => makeFolderIn(open, 'inner')).toThrow('ENOENT')
    closeFolder(open)
  },
)

test('a folder is removed with all that is in it, and of a link only the link', () => {
  const { folder, outside } = openAttacked()
  mkdirSync(join(folder, 'own/a/b'), { recursive: true })
  writeFileSync(Buffer.concat([Buffer.from(join(folder, 'own/a/')), Buffer.from([0xff])]), 'x')
  symlinkSync(outside, join(folder, 'own/a/b/link'))
  expect(removeContained(folder, 'own')).toEqual({ path: 'own', absolute: join(folder, 'own') })
  expect(removeContained(folder, 'own/gone')).not.toHaveProperty('reason')
  expect(existsSync(join(folder, 'own'))).toBe(false)
  expect(readdirSync(outside)).toEqual([photo])
})

test.each(['state', 'state/projects/p/snapshots', 'state/projects/p/snapshots/old'])(
  'tidying up snapshots deletes nothing outside where .waymark/%s has become a link',
  async (linked) => {
    const { folder, outside } = openAttacked()
    const stateFolder = join(folder, '.waymark/state/projects/p')
    for (const below of ['projects/p/snapshots/old/inner', 'old/inner', 'inner'])
      mkdirSync(join(outside, below), { recursive: true })
    const before = readdirSync(outside, { recursive: true })
    const tomorrow = { now: () => Date.now() + 2 * 24 * 60 * 60_000 }
    const witness = createWitness({ stateFolder, clock: tomorrow })
    const path = join(folder, '.waymark', linked)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(outside, path)
    await witness.sweep([])
    expect(readdirSync(outside, { recursive: true })).toEqual(before)
  },
)

test('tidying up snapshots deletes nothing outside while their folder is swapped for a link', async () => {
  const { folder, outside } = openAttacked()
  const stateFolder = join(folder, '.waymark/state/projects/p')
  const old = join(stateFolder, 'snapshots/old')
  for (const place of [old, join(outside, 'old')]) mkdirSync(join(place, 'inner'), { recursive: true })
  const tomorrow = { now: () => Date.now() + 2 * 24 * 60 * 60_000 }
  const witness = createWitness({ stateFolder, clock: tomorrow })
  await swapFolder(join(stateFolder, 'snapshots'), outside)
  let swept = 0
  for (const end = Date.now() + raceMs; Date.now() < end; ) {
    swept += await witness.sweep([]).catch(() => 0)
    try {
      mkdirSync(old)
    } catch {}
  }
  expect(swept).toBeGreaterThan(0)
  expect(readdirSync(join(outside, 'old'))).toEqual(['inner'])
})

test('deletes no file outside while the folder of copies is swapped for a link', async () => {
  const { queue, outside } = openAttacked()
  const session = join(queue.copies, 's')
  mkdirSync(session, { recursive: true })
  await swapFolder(session, outside)
  const rounds = await race(() => {
    for (const path of copiesIn(queue)) removeCopy(queue, path)
  })
  expect(rounds).toBeGreaterThan(minRounds)
  expect(readdirSync(outside)).toEqual([photo])
})

test('neither the lock nor the log of a queue is written through a link', () => {
  const { queue, outside } = openAttacked()
  const mine = join(outside, photo)
  symlinkSync(mine, join(queue.folder, `ingest.lock.${process.pid}`))
  takeIngestLock(queue, () => 'now')?.release()
  symlinkSync(mine, logFile(queue))
  logLine(queue, 'a line')
  expect(readFileSync(mine, 'utf8')).toBe('mine')
})

test('no log is written in a folder that is a link', () => {
  const { queue, outside } = openAttacked()
  const linked = { ...queue, folder: join(queue.base, 'linked') }
  symlinkSync(outside, linked.folder)
  logLine(linked, 'a line')
  expect(readdirSync(outside)).toEqual([photo])
})

test('neither a project’s id nor its server is written through a link', () => {
  const { folder, outside } = openAttacked()
  const server = { origin: 'http://127.0.0.1:1', project: null }
  mkdirSync(join(folder, '.waymark'))
  for (const name of ['project-id', 'server', '.gitignore'])
    symlinkSync(join(outside, name), join(folder, '.waymark', name))
  writeProjectId(folder, 'p-1')
  keepProjectServer(folder, server, false)
  expect(readdirSync(outside)).toEqual([photo])
  rmSync(join(folder, '.waymark'), { recursive: true })
  symlinkSync(outside, join(folder, '.waymark'))
  writeProjectId(folder, 'p-1')
  expect(() => keepProjectServer(folder, server, false)).toThrow('.waymark')
  expect(readdirSync(outside)).toEqual([photo])
})
