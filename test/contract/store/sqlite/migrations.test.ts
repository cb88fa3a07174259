import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { MissionId } from '../../../../src/domain/id.ts'
import { migrations } from '../../../../src/storage/migrations/list.ts'
import type { Migration } from '../../../../src/storage/migrations/migration.ts'
import { migrate } from '../../../../src/storage/sqlite/migrate.ts'
import { agent } from '../../../support/entities.ts'
import { temporaryStore } from '../../../support/store.ts'
import { planPhase, planTask } from '../plan-facts.ts'
import { recordMission } from './processes/store-of.ts'

const next = migrations.length + 1
const dropping: Migration = {
  version: next,
  title: 'drop the notes',
  destructive: true,
  statements: () => ['drop table note'],
}
const adding: Migration = {
  version: next + 1,
  title: 'add a table',
  destructive: false,
  statements: () => ['create table extra (id text primary key)'],
}

const tablesOf = (database: Database.Database) =>
  database.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all()

test('the versions of the migrations are 1, 2, 3 …', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
})

test('a destructive step keeps a copy of the file as it was', async () => {
  await using temporary = await temporaryStore()
  const { store, file } = temporary
  await recordMission(store, 'm-1')
  const database = new Database(file)
  await migrate(database, file, [...migrations, dropping, adding])
  expect(database.pragma('user_version', { simple: true })).toBe(next + 1)
  expect(tablesOf(database)).not.toContain('note')
  database.close()
  const copy = new Database(`${file}.before-schema-${next}`)
  expect(copy.pragma('user_version', { simple: true })).toBe(migrations.length)
  expect(tablesOf(copy)).toContain('note')
  expect(copy.prepare('select id from mission').pluck().all()).toEqual(['m-1'])
  copy.close()
  expect((await readdir(dirname(file))).filter((name) => name.includes('.copy-'))).toEqual([])
})

test('a step that fails leaves the database as it was', async () => {
  await using temporary = await temporaryStore()
  const { store, file } = temporary
  await recordMission(store, 'm-1')
  const database = new Database(file)
  const failing: Migration = { ...dropping, statements: () => ['drop table note', 'drop table nothing'] }
  await expect(migrate(database, file, [...migrations, failing])).rejects.toThrow('nothing')
  expect(tablesOf(database)).toContain('note')
  expect(database.pragma('user_version', { simple: true })).toBe(migrations.length)
  database.close()
  expect((await readdir(dirname(file))).filter((name) => name.includes('.copy-'))).toEqual([])
  await recordMission(store, 'm-2')
})

test('many connections that migrate at once run each step once', async () => {
  await using temporary = await temporaryStore()
  const { store, file } = temporary
  await recordMission(store, 'm-1')
  const databases = Array.from({ length: 8 }, () => new Database(file, { timeout: 5 }))
  await Promise.all(databases.map((database) => migrate(database, file, [...migrations, dropping, adding])))
  for (const database of databases) {
    expect(database.pragma('user_version', { simple: true })).toBe(next + 1)
    database.close()
  }
})

test('phases that were planned without a number get one, and what the facts make agrees', async () => {
  await using temporary = await temporaryStore()
  const { store, file } = temporary
  await recordMission(store, 'm-1')
  const missionId = 'm-1' as MissionId
  // As they were recorded before: planned phases named no number, and a task asked for number 1.
  const phases = [
    planPhase(1, { missionId }),
    planPhase(2, { missionId }),
    planPhase(3, { missionId, number: 1, name: 'Asked for' }),
    planPhase(4, { missionId }),
  ]
  await store.record({
    actor: agent,
    at: Date.now(),
    decide: async () => ({
      facts: [
        ...phases.map((phase) => ({ kind: 'phase.created' as const, phase })),
        { kind: 'task.planned' as const, task: planTask(1, { missionId, phaseId: phases[0]?.id ?? null }) },
      ],
      answer: null,
    }),
  })
  const database = new Database(file)
  const numbers = () => database.prepare('select id, number from phase order by seq').raw().all()
  const orders = () => database.prepare('select id, order_phase from task order by seq').raw().all()
  const [made, placed] = [numbers(), orders()]
  expect(made).toEqual([
    ['P1', 3],
    ['P2', 2],
    ['P3', 1],
    ['P4', 4],
  ])
  for (const statement of [
    'alter table task drop column assignee',
    "update phase set number = null where id <> 'P3'",
    'update task set order_phase = 9007199254740991',
    'pragma user_version = 6',
  ])
    database.exec(statement)
  await migrate(database, file, migrations)
  expect([numbers(), orders()]).toEqual([made, placed])
  database.close()
})
