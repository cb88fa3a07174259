import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { schemaVersion } from '../../../src/store/schema/schema.ts'
import { createSqliteTables } from '../../../src/store/sqlite/create.ts'
import { temporaryStore } from '../../support/store.ts'
import { recordMission } from './processes/store-of.ts'

function versionOf(file: string): unknown {
  const database = new Database(file)
  try {
    return database.pragma('user_version', { simple: true })
  } finally {
    database.close()
  }
}

function setVersion(file: string, version: number): void {
  const database = new Database(file)
  database.pragma(`user_version = ${version}`)
  database.close()
}

test('creates the tables with the version of the schema', async () => {
  await using temporary = await temporaryStore()
  await recordMission(temporary.store, 'm-1')
  expect(versionOf(temporary.file)).toBe(schemaVersion)
  expect(await temporary.store.health()).toMatchObject({ schemaVersion })
})

test('many connections that create the tables at once create them once', async () => {
  await using temporary = await temporaryStore()
  mkdirSync(dirname(temporary.file), { recursive: true })
  const databases = Array.from({ length: 8 }, () => new Database(temporary.file, { timeout: 5 }))
  await Promise.all(databases.map(createSqliteTables))
  for (const database of databases) {
    expect(database.pragma('user_version', { simple: true })).toBe(schemaVersion)
    database.close()
  }
})

test.each([1, schemaVersion - 1])('refuses a database of schema %i, and changes nothing', async (version) => {
  await using temporary = await temporaryStore()
  const { store, file, another } = temporary
  await recordMission(store, 'm-1')
  await store.close()
  setVersion(file, version)
  const later = another()
  const refusal = {
    code: 'UNAVAILABLE',
    message: expect.stringContaining(`schema ${version}`),
    hint: expect.stringContaining('Move it elsewhere'),
  }
  await expect(later.view(({ eventLog: log }) => log.head())).rejects.toMatchObject(refusal)
  await expect(recordMission(later, 'm-2')).rejects.toMatchObject(refusal)
  expect((await later.health()).warnings).toEqual([expect.stringContaining(`schema ${version}`)])
  await later.close()
  expect(versionOf(file)).toBe(version)
})

test('refuses a database of a newer schema, and says to update', async () => {
  await using temporary = await temporaryStore()
  const { store, file, another } = temporary
  await recordMission(store, 'm-1')
  await store.close()
  setVersion(file, schemaVersion + 1)
  await expect(another().view(({ eventLog: log }) => log.head())).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    hint: expect.stringContaining('Update Waymark'),
  })
})
