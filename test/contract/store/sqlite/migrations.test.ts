import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { MissionId } from '../../../../src/domain/id.ts'
import { migrations } from '../../../../src/storage/migrations/list.ts'
import type { Migration } from '../../../../src/storage/migrations/migration.ts'
import { migrate } from '../../../../src/storage/sqlite/migrate.ts'
import { agent, aMission, anAttempt } from '../../../support/entities.ts'
import { temporaryStore } from '../../../support/store.ts'
import { aChange, closing, happened } from '../facts.ts'
import { aClaim, planPhase, planTask, t } from '../plan-facts.ts'
import { asOfSchema } from './older.ts'
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

test('of a database in memory no copy is kept anywhere', async () => {
  const database = new Database(':memory:')
  await migrate(database, ':memory:', [...migrations, dropping])
  expect(tablesOf(database)).not.toContain('note')
  database.close()
  expect((await readdir('.')).filter((name) => name.startsWith(':memory:'))).toEqual([])
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
  const { store, file, another } = temporary
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
  const [made, placed] = numbersIn(file)
  expect(made).toEqual([
    ['P1', 3],
    ['P2', 2],
    ['P3', 1],
    ['P4', 4],
  ])
  await store.close()
  await asOfSchema(file, 6)
  changing(file, (database) => {
    database.exec("update phase set number = null where id <> 'P3'")
    database.exec('update task set order_phase = 9007199254740991')
  })
  const later = another()
  expect((await later.inspect()).differences).toEqual([])
  expect(numbersIn(file)).toEqual([made, placed])
})

test('what the last schema keeps apart is what the facts make of it', async () => {
  await using temporary = await temporaryStore()
  const { store, file, another } = temporary
  const missionId = 'm-1' as MissionId
  const texts = { name: 'Ärger mit É', goal: 'nul \0 here' }
  const attempt = anAttempt({ missionId: null, phaseId: null, taskId: t(1) })
  await happened(
    store,
    1,
    { kind: 'mission.started', mission: aMission({ id: missionId, name: 'ÉTÉ \0', objective: 'ﬁne' }) },
    { kind: 'task.planned', task: planTask(1, texts) },
    { kind: 'task.planned', task: planTask(2) },
    { kind: 'task.claimed', taskId: t(2), claim: aClaim({ token: 'c-7' }) },
    { kind: 'attempt.opened', attempt },
  )
  const closed = closing(attempt, [
    aChange('a.ts'),
    aChange('b.ts', { scope: 'out', addedLines: 5, deletedLines: null }),
    aChange('c.ts', { scope: null }),
  ])
  const outcome = { ...closed.outcome, summary: 'Fertig \0 ganz.' }
  const scope = { matches: false, unexpected: ['b.ts'] }
  await happened(store, 2, { ...closed, outcome, evidence: { ...closed.evidence, scope } })
  await store.close()
  await asOfSchema(file, 7)
  changing(file, (database) => {
    database.prepare('update mission set name = ?').run('ÉTÉ \0')
    database.prepare('update task set goal = ? where id = ?').run(texts.goal, t(1))
  })
  const later = another()
  expect((await later.inspect()).differences).toEqual([])
  const { missions, tasks, measured, token } = await later.view(async (reads) => ({
    missions: await reads.missions.list({ search: 'été', limit: 5 }),
    tasks: await reads.plan.tasks({ search: 'ärger HERE', now: 3 }, { limit: 5 }),
    measured: await reads.tasks.measured([attempt.id]),
    token: await reads.plan.taskOfToken('c-7'),
  }))
  expect(missions.items.map(({ item }) => item.name)).toEqual(['ÉTÉ ␀'])
  expect(tasks.tasks.map(({ task }) => task.goal)).toEqual(['nul ␀ here'])
  expect(measured.get(attempt.id)).toMatchObject({ outOfScope: 1, addedLines: 9, deletedLines: 2 })
  expect(token).toBe(t(2))
})

function changing<Result>(file: string, change: (database: Database.Database) => Result): Result {
  const database = new Database(file)
  try {
    return change(database)
  } finally {
    database.close()
  }
}

function numbersIn(file: string): readonly unknown[] {
  return changing(file, (database) => [
    database.prepare('select id, number from phase order by seq').raw().all(),
    database.prepare('select id, order_phase from task order by seq').raw().all(),
  ])
}
