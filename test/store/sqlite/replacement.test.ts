import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { amount } from '../../support/amount.ts'
import { temporaryStore } from '../../support/store.ts'
import { spawned } from './processes/spawned.ts'
import { recordMission } from './processes/store-of.ts'

const rounds = amount({ test: 1, soak: 40 })
const journals = [{ sandboxJournal: false }, { sandboxJournal: true }]

/** A record of one mission, and a backup of it. */
async function backedUp(options: { readonly sandboxJournal?: boolean } = {}) {
  const temporary = await temporaryStore(options)
  onTestFinished(() => temporary[Symbol.asyncDispose]())
  const { root, file } = temporary
  const anchorFolder = join(root, 'anchors')
  const store = temporary.another({ anchorFolder })
  await recordMission(store, 'm-first')
  const backup = join(root, 'backup.db')
  await store.backup(backup)
  return { ...temporary, store, file, root, anchorFolder, backup }
}

function missionsIn(file: string): readonly string[] {
  const database = new Database(file) // it may have to undo what a killed process left
  try {
    return database.prepare<unknown[], string>('select id from mission').pluck().all()
  } finally {
    database.close()
  }
}

test.each(journals.slice(0, amount({ test: 1, soak: 2 })))(
  'each write that a process was told is recorded stands in the new record or in a copy set aside ($sandboxJournal)',
  async (options) => {
    const { store, root, file, anchorFolder, backup, another } = await backedUp(options)
    const writers = ['a', 'b'].map((name) =>
      spawned('writer', [root, file, `m-${name}`, '100000', anchorFolder]),
    )
    onTestFinished(() => {
      for (const writer of writers) writer.kill('SIGKILL')
    })
    await Promise.all(writers.map(({ firstLine }) => firstLine))
    const reading = new AbortController()
    const read = (async () => {
      while (!reading.signal.aborted) {
        const fresh = another({ anchorFolder })
        await fresh.view(({ missions }) => missions.list({ limit: 1 }))
        await fresh.close()
        await sleep(1)
      }
    })()
    const kept: string[] = []
    for (let round = 0; round < rounds; round += 1) {
      const restored = await store.putBack(backup, Date.now())
      kept.push(restored.kept ?? 'nothing')
      await sleep(20)
    }
    reading.abort()
    await read
    for (const writer of writers) writer.kill('SIGKILL')
    const outputs = await Promise.all(writers.map(async ({ ended }) => (await ended).output))
    const told = outputs.flatMap((output) => output.split('\n').slice(0, -1))
    expect(told.filter((line) => !/^m-[ab]-\d+$/.test(line))).toEqual([])
    const found = new Set([file, ...kept].flatMap(missionsIn))
    expect(told.filter((id) => !found.has(id))).toEqual([])
    expect(kept).toHaveLength(rounds)
    for (const place of [file, ...kept]) {
      const { damage, brokenAt, differing } = await another({ file: place }).inspect()
      expect({ damage, brokenAt, differing }).toEqual({ damage: [], brokenAt: null, differing: 0 })
    }
  },
)

test('a record that another process locks is replaced once it is free', async () => {
  const { store, root, file, anchorFolder, backup, another } = await backedUp()
  await recordMission(store, 'm-later')
  const end = join(root, 'end')
  const locker = spawned('locker', [file, end])
  await locker.firstLine
  setTimeout(() => writeFileSync(end, ''), 500)
  const { kept } = await store.putBack(backup, Date.now())
  expect(existsSync(end)).toBe(true)
  await locker.ended
  expect(missionsIn(file)).toEqual(['m-first'])
  expect(missionsIn(kept ?? '')).toEqual(['m-first', 'm-later'])
  const fresh = another({ anchorFolder })
  expect(await fresh.view(({ missions }) => missions.find('m-later'))).toBeNull()
  expect(readdirSync(dirname(file)).filter((name) => /restoring|partial|-mj/.test(name))).toEqual([])
})

test.each([true, false])('refuses a backup that has a trigger (a record is there: %s)', async (isThere) => {
  const { store, file, backup } = await backedUp()
  const crafted = new Database(backup)
  crafted.exec('create trigger lose after insert on mission begin delete from mission; end')
  crafted.close()
  if (!isThere) writeFileSync(file, '')
  await expect(store.putBack(backup, Date.now())).rejects.toMatchObject({ reason: 'backup_damaged' })
  if (isThere) expect(missionsIn(file)).toEqual(['m-first'])
})

test('takes from a backup only what Waymark has tables for', async () => {
  const { store, file, backup } = await backedUp()
  const crafted = new Database(backup)
  crafted.exec('create table gift (a)')
  crafted.close()
  await store.putBack(backup, Date.now())
  expect(missionsIn(file)).toEqual(['m-first'])
  const database = new Database(file, { readonly: true })
  expect(database.prepare("select name from sqlite_schema where name = 'gift'").all()).toEqual([])
  database.close()
})
