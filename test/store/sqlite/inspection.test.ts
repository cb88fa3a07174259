import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import {
  type Comparison,
  compare,
  derivedTables,
  tablesOutsideLog,
} from '../../../src/store/record/comparison.ts'
import { replay } from '../../../src/store/record/replay.ts'
import { soakTest } from '../../support/amount.ts'
import { plantRecordedDay } from '../../support/recorded-day.ts'
import { type TemporaryStore, temporaryStore } from '../../support/store.ts'
import { happened } from '../events.ts'
import { advanced, anEvent, approved, created, kept } from '../run-events.ts'

/** A record of a whole day. */
async function busyStore(): Promise<TemporaryStore> {
  const temporary = await temporaryStore()
  await plantRecordedDay(temporary.file)
  return temporary
}

function changing<Result>(file: string, change: (database: Database.Database) => Result): Result {
  const database = new Database(file)
  try {
    database.pragma('foreign_keys = off')
    database.pragma('ignore_check_constraints = on')
    return change(database)
  } finally {
    database.close()
  }
}

interface Column {
  readonly cid: number
  readonly name: string
  readonly type: string
  readonly pk: number
}

const columnsOf = (database: Database.Database, table: string) =>
  database.prepare<unknown[], Column>('select cid, name, type, pk from pragma_table_info(?)').all(table)

/** Where the log ends, which the check of its chain looks at. */
function isHead(table: string, column: string): boolean {
  return table === 'project' && ['seq', 'head'].includes(column)
}

test('what the log entries of a whole day make is what the tables hold', async () => {
  await using temporary = await busyStore()
  const found = await temporary.store.inspect()
  expect(found).toMatchObject({ brokenAt: null, error: null, damage: [], differing: 0, differences: [] })
  expect(found.rows).toBeGreaterThan(300)
})

/** Changes a table, compares everything with what the log entries make, and takes the change back. */
async function differing(file: string, changes: readonly ((database: Database.Database) => unknown)[]) {
  const database = new Database(file)
  const project = String(database.prepare('select id from project').pluck().get())
  const replayed = await replay(database, project)
  try {
    database.pragma('foreign_keys = off')
    const found: Comparison[] = []
    for (const change of changes) {
      database.exec('begin')
      change(database)
      found.push(await compare(database, replayed.database, project))
      database.exec('rollback')
    }
    return found
  } finally {
    replayed.close()
    database.close()
  }
}

test('every table is compared, but those that no log entry makes', async () => {
  await using temporary = await busyStore()
  const { file } = temporary
  const tables = changing(file, (database) =>
    // The index of the search is made from tasks.
    database
      .prepare("select name from sqlite_schema where type = 'table' and name not like 'task_search%'")
      .pluck()
      .all(),
  )
  const compared = changing(file, derivedTables)
  expect(new Set([...compared, ...Object.keys(tablesOutsideLog)])).toEqual(new Set(tables))
  const changed = compared.filter((name) => name !== 'project')
  const [found] = await differing(file, [
    (database) => {
      const project = database.prepare('select id from project').pluck().get()
      for (const table of changed) {
        const columns = columnsOf(database, table)
        const values = columns.map(({ name, type }) => {
          if (name === 'project_id') return project
          return type === 'text' ? 'made up' : 987_654
        })
        database.prepare(`insert into "${table}" values (${columns.map(() => '?').join(', ')})`).run(values)
      }
    },
  ])
  expect(found?.differingTables).toEqual(changed)
  expect(found?.differences).toEqual(
    changed.map((table) => ({
      table,
      says: expect.stringMatching(/ exists, and the log does not have it\.$/),
    })),
  )
})

test('a value changed in any column of any table is told, and a row that is gone', async () => {
  await using temporary = await busyStore()
  const { file } = temporary
  const columns = changing(file, (database) =>
    derivedTables(database)
      .filter((table) => database.prepare(`select 1 from "${table}"`).get() !== undefined)
      .flatMap((table) => columnsOf(database, table).map((column) => ({ table, ...column })))
      .filter(({ table, name, pk }) => pk === 0 && !isHead(table, name)),
  )
  expect(columns.length).toBeGreaterThan(150)
  // The first column of every table, then the second of every table, and so on.
  const rounds = [...Map.groupBy(columns, ({ cid }) => cid).values()]
  const found = await differing(
    file,
    rounds.map((round) => (database) => {
      for (const { table, name, type } of round) {
        const value = type === 'text' ? `coalesce("${name}", '') || ' '` : `coalesce("${name}", 0) + 700`
        const first = `(select min(rowid) from "${table}")`
        database.prepare(`update "${table}" set "${name}" = ${value} where rowid = ${first}`).run()
      }
    }),
  )
  expect(found.map(({ differences }) => differences.map(({ says }) => says))).toEqual(
    rounds.map((round) =>
      round.map(({ table, name }) =>
        expect.stringMatching(new RegExp(`^${table} .*differs: ${name} is .*, and .* in the log`)),
      ),
    ),
  )
  const [gone] = await differing(file, [(database) => database.exec('delete from task_place')])
  expect(gone?.differences[0]?.says).toMatch(/^task_place .* is missing, and the log has it\.$/)
})

test('repair makes the tables again from the log entries, keeps a copy of what was there, and work goes on', async () => {
  await using temporary = await busyStore()
  const { store, file, another } = temporary
  const running = another()
  const before = await running.view(({ missions }) => missions.list({ limit: 5 }))
  changing(file, (database) => {
    database.exec("update task set status = 'done', resolution = 'success'")
    database.exec('delete from attempt_change; delete from inbox_item')
    database.exec("update mission set name = 'Another'")
  })
  const { backup, tables, rows } = await store.repair(Date.now())
  expect(tables.toSorted()).toEqual(['attempt_change', 'inbox_item', 'mission', 'task'].toSorted())
  expect(rows).toBeGreaterThan(10)
  expect(await store.inspect()).toMatchObject({ differing: 0, brokenAt: null })
  expect(await running.view(({ missions }) => missions.list({ limit: 5 }))).toEqual(before)
  expect(
    changing(backup ?? '', (database) => database.prepare('select distinct name from mission').pluck().all()),
  ).toEqual(['Another'])
  await happened(running, Date.now(), kept, created())
  await happened(running, Date.now(), advanced(anEvent(2)), approved())
  expect(await store.inspect()).toMatchObject({ differing: 0, brokenAt: null, error: null })
})

test('a log that is broken or cut is told, and no table is made from it', async () => {
  await using temporary = await busyStore()
  const { store, file } = temporary
  const head = await store.view(({ eventLog: log }) => log.head())
  changing(file, (database) => database.prepare('delete from project_event where seq = ?').run(head))
  expect(await store.inspect()).toMatchObject({ events: head - 1, brokenAt: head, tables: 0 })
  await expect(store.repair(Date.now())).rejects.toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining(`at log entry ${head}`),
    hint: expect.stringContaining('waymark backup restore'),
  })
})

test('an index that does not fit its table is found by SQLite, and made again', async () => {
  await using temporary = await busyStore()
  const { store, file } = temporary
  const asks = (sql: string) => (database: Database.Database) => {
    database.unsafeMode(true)
    database.pragma('writable_schema = on')
    database.prepare("update sqlite_schema set sql = ? where name = 'inbox_item_status'").run(sql)
    database.pragma('schema_version = 4711')
  }
  const whole = 'CREATE INDEX inbox_item_status on inbox_item (project_id, status, seq)'
  changing(file, asks(`${whole} where status = 'never'`))
  changing(file, (database) => database.exec("update inbox_item set status = 'dismissed'"))
  changing(file, asks(whole))
  expect((await store.inspect()).damage?.[0]).toMatch(/index inbox_item_status/)
  await store.repair(Date.now())
  expect((await store.inspect()).damage).toEqual([])
})

soakTest('the check of one project leaves the others of a shared file alone', async () => {
  await using temporary = await busyStore()
  // The record knows its folder from here on.
  await happened(temporary.store, 1, kept)
  const other = temporary.another({ shared: true, root: `${temporary.root}/other` })
  await happened(other, 1, kept, created())
  expect(await other.inspect()).toMatchObject({ events: 3, differing: 0 })
  changing(temporary.file, (database) =>
    database.exec("update run set state = 'elsewhere' where id = 'run-1'"),
  )
  expect(await other.inspect()).toMatchObject({ differing: 1 })
  expect(await temporary.store.inspect()).toMatchObject({ differing: 0 })
})
