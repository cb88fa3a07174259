import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { StoreOptions } from '../../../../src/store/store.ts'
import { temporaryStore } from '../../../support/store.ts'
import { happened } from '../facts.ts'
import { advanced, anEvent, created, kept } from '../run-facts.ts'

/** A record with a run, whose checks are kept in a folder of their own. */
async function checkedStore() {
  const temporary = await temporaryStore()
  const folder = join(temporary.root, 'state')
  const checking = (changed: Partial<StoreOptions> = {}) =>
    temporary.another({ anchorFolder: folder, program: '1.0.0', ...changed })
  await happened(temporary.store, 1, kept, created())
  const asDatabase = <Result>(path: string, work: (database: Database.Database) => Result) => {
    const database = new Database(path)
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  return {
    temporary,
    folder,
    checking,
    replayed: join(folder, 'replayed.db'),
    change: (path: string, sql: string) => asDatabase(path, (database) => database.exec(sql)),
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  }
}

const whole = { brokenAt: null, trouble: null, differing: 0 }

test('a check goes on from what the last one kept, for its owner alone', async () => {
  await using project = await checkedStore()
  const { temporary, replayed, change, checking, folder } = project
  const store = checking()
  expect(await store.inspect()).toMatchObject({ ...whole, facts: 3 })
  if (process.platform !== 'win32') expect(statSync(replayed).mode & 0o077).toBe(0)
  // A mark that no fact makes and no comparison sees: it is still there when the same file was gone on with.
  change(replayed, 'create table zebra (here int)')
  await happened(temporary.store, 2, advanced(anEvent(2)))
  expect(await store.inspect()).toMatchObject({ ...whole, facts: 4 })
  expect(readFileSync(replayed).includes('zebra')).toBe(true)
  expect(await checking().inspect({ full: true })).toMatchObject({ ...whole, facts: 4 })
  expect(readFileSync(replayed).includes('zebra')).toBe(false)
  expect(readdirSync(folder).filter((name) => name.startsWith('replayed'))).toEqual(['replayed.db'])
})

test('what was kept by another version, of another project, or was damaged is made again', async () => {
  await using project = await checkedStore()
  const { replayed, change, checking, temporary } = project
  await checking().inspect()
  const marked = () => readFileSync(replayed).includes('zebra')
  change(replayed, 'create table zebra (here int)')
  expect(await checking({ program: '1.0.1' }).inspect()).toMatchObject(whole)
  expect(marked()).toBe(false)
  const other = checking({ shared: true, root: `${temporary.root}/other` })
  mkdirSync(`${temporary.root}/other`)
  await happened(other, 1, kept, created())
  change(replayed, 'create table zebra (here int)')
  expect(await other.inspect()).toMatchObject({ ...whole, facts: 3 })
  expect(marked()).toBe(false)
  writeFileSync(replayed, 'no database')
  expect(await checking().inspect()).toMatchObject(whole)
  change(replayed, "update replayed set head = 'another'; create table zebra (here int)")
  expect(await checking().inspect()).toMatchObject(whole)
  expect(marked()).toBe(false)
})

test('a tampered table is told beside what was kept, and what was kept wrongly tells nothing', async () => {
  await using project = await checkedStore()
  const { temporary, replayed, change, checking } = project
  const store = checking()
  await store.inspect()
  change(replayed, "update run set state = 'elsewhere'")
  expect(await store.inspect()).toMatchObject(whole)
  change(temporary.file, "update run set state = 'elsewhere'")
  expect(await store.inspect()).toMatchObject({ differing: 1, brokenAt: null })
  // Who can write both can make them agree; a full check takes nothing from there.
  change(replayed, "update run set state = 'elsewhere'")
  expect(await store.inspect()).toMatchObject(whole)
  expect(await store.inspect({ full: true })).toMatchObject({ differing: 1 })
})

test('a fact that was changed among those that were kept breaks the chain', async () => {
  await using project = await checkedStore()
  const { temporary, change, checking } = project
  const store = checking()
  await store.inspect()
  change(temporary.file, 'update fact set at = at + 1 where seq = 2')
  expect(await store.inspect()).toMatchObject({ facts: 1, brokenAt: 2, tables: 0 })
  expect(await store.inspectChain()).toMatchObject({ facts: 1, brokenAt: 2 })
})
