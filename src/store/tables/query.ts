import {
  type CompiledQuery,
  type DialectAdapter,
  type Insertable,
  type Kysely,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  SqliteAdapter,
  sql,
} from 'kysely'
import type { Actor } from '../../kernel/actor.ts'
import { setNewest } from '../../kernel/limited-map.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { ReadScope, Tables } from './tables.ts'

interface PreparedQuery<Row> {
  readonly query: CompiledQuery<Row>
  /** For each parameter the index of its value; -1 for a constant. */
  readonly slots: readonly number[]
}

type QueryValue = string | number | null

type QueryFactory<Row, Values extends readonly QueryValue[]> = (
  db: Kysely<Tables>,
  ...values: Values
) => { compile(): CompiledQuery<Row> }

/** A frequent query, compiled once: compiling it takes longer than running it. */
export function prepareQuery<Row, Values extends readonly QueryValue[]>(build: QueryFactory<Row, Values>) {
  const built = new WeakMap<DialectAdapter, PreparedQuery<Row>>()
  const bindValues = (db: Kysely<Tables>, values: Values): CompiledQuery<Row> => {
    const { adapter } = db.getExecutor()
    const prepared = built.get(adapter) ?? prepare(build, db, values)
    built.set(adapter, prepared)
    const { query, slots } = prepared
    return { ...query, parameters: slots.map((slot, at) => (slot < 0 ? query.parameters[at] : values[slot])) }
  }
  return async (db: Kysely<Tables>, ...values: Values): Promise<readonly Row[]> =>
    (await db.executeQuery<Row>(bindValues(db, values))).rows
}

function prepare<Row, Values extends readonly QueryValue[]>(
  build: QueryFactory<Row, Values>,
  db: Kysely<Tables>,
  values: Values,
): PreparedQuery<Row> {
  const marks: readonly string[] = values.map((_, slot) => `\u0000${slot}`)
  const slotOf = new Map<unknown, number>(marks.map((mark, slot) => [mark, slot]))
  const query = build(db, ...(marks as readonly QueryValue[] as Values)).compile() // placeholders, whose types are not checked
  return { query, slots: query.parameters.map((value) => slotOf.get(value) ?? -1) }
}

const inserts = new WeakMap<DialectAdapter, Map<string, CompiledQuery<unknown>>>()

/** Inserts one row with a statement that is compiled once per set of columns. */
export async function insertRow<Name extends keyof Tables>(
  db: Kysely<Tables>,
  table: Name,
  row: Insertable<Tables[Name]>,
): Promise<void> {
  await insertBatch(db, table, [row])
}

async function insertBatch<Name extends keyof Tables>(
  db: Kysely<Tables>,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
): Promise<void> {
  const { adapter } = db.getExecutor()
  const cached = inserts.get(adapter) ?? new Map<string, CompiledQuery<unknown>>()
  inserts.set(adapter, cached)
  const key = `${rows.length} ${table} ${Object.keys(rows[0] ?? {}).join(' ')}`
  const query = cached.get(key) ?? db.insertInto(table).values(rows).compile()
  cached.set(key, query)
  await db.executeQuery({ ...query, parameters: rows.flatMap((row) => Object.values(row)) })
}

// Fixed sizes keep the statements prepared in SQLite: preparing one for each row count is slower than inserting.
const batchSizes = [64, 16, 4, 1] as const

/** Inserts rows with the same columns in the same order, none of them undefined. */
export async function insertRows<Name extends keyof Tables>(
  db: Kysely<Tables>,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
): Promise<void> {
  if (!isSqlite(db)) {
    for (const batch of splitIntoBatches(rows)) await db.insertInto(table).values(batch).execute()
    return
  }
  for (let at = 0; at < rows.length; ) {
    const count = batchSizes.find((size) => size <= rows.length - at) ?? 1
    await insertBatch(db, table, rows.slice(at, at + count))
    at += count
  }
}

/** A query for each limit, which SQLite needs to know when it plans. */
export function prepareByLimit<Query>(build: (limit: number) => Query): (limit: number) => Query {
  const byLimit = new Map<number, Query>()
  return (limit) => {
    const prepared = byLimit.get(limit) ?? build(limit)
    byLimit.set(limit, prepared)
    return prepared
  }
}

const maxFilled = 256

/** A query for a list of ids. Lists are padded to a power of two with their last id, so that few queries are compiled. */
export function prepareByIds<Row>(
  build: (db: Kysely<Tables>, projectId: string, ids: readonly string[]) => { compile(): CompiledQuery<Row> },
): (scope: ReadScope, ids: readonly string[]) => Promise<readonly Row[]> {
  const queryForLength = prepareByLimit((_length) =>
    prepareQuery((db, projectId: string, ...ids: readonly string[]) => build(db, projectId, ids)),
  )
  return async ({ db, projectId }, ids) => {
    if (ids.length > maxFilled) return (await db.executeQuery(build(db, projectId, ids).compile())).rows
    const length = 2 ** Math.ceil(Math.log2(Math.max(ids.length, 1)))
    const last = ids.at(-1) ?? ''
    const filled = Array.from({ length }, (_, at) => ids[at] ?? last)
    return queryForLength(length)(db, projectId, ...filled)
  }
}

interface QueryKey {
  readonly key: string
  /** A new version is read again. */
  readonly version: string
}

/** Caches the last values by key and version, per connection: a replaced file starts with an empty cache. */
export function createVersionedCache<Value>(maxEntries: number) {
  const byConnection = new WeakMap<
    DialectAdapter,
    Map<string, { readonly version: string; readonly value: Value }>
  >()
  return async (
    db: Kysely<Tables>,
    { key, version }: QueryKey,
    read: () => Promise<Value | null>,
  ): Promise<Value | null> => {
    const { adapter } = db.getExecutor()
    const cached = byConnection.get(adapter) ?? new Map()
    byConnection.set(adapter, cached)
    const found = cached.get(key)
    if (found?.version === version) return found.value
    const value = await read()
    if (value === null) cached.delete(key)
    else setNewest(cached, maxEntries, key, { version, value })
    return value
  }
}

/** Ids with a prefix, in order of the id. */
export async function idsByPrefix(
  { db, projectId }: ReadScope,
  table: 'mission' | 'task' | 'inbox_item' | 'run' | 'capture_session',
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom(table)
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', '>=', prefix)
    .where('id', '<', `${prefix}\u{10ffff}`)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** The values for `in (…)`: an empty list is not portable SQL, and no row has an empty value. */
export function nonEmptyValues<Value extends string>(values: readonly Value[]): readonly string[] {
  return values.length > 0 ? values : ['']
}

/** Joins a table by a lookup for each row. Keeps both engines from starting with it, by `cross join` and `offset`. */
export function lateralLookup(
  db: Kysely<Tables>,
  { table, as, on }: { readonly table: keyof Tables; readonly as: string; readonly on: RawBuilder<unknown> },
): RawBuilder<unknown> {
  const named = sql`${sql.table(table)} as ${sql.ref(as)}`
  if (isSqlite(db)) return sql`cross join ${named} on ${on}`
  return sql`cross join lateral (select * from ${named} where ${on} offset 0) as ${sql.ref(as)}`
}

export function isSqlite(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter
}

// One statement takes 32,766 values on SQLite and 65,535 on PostgreSQL.
const size = 500

/** Rows in groups that fit into one statement each. */
export function splitIntoBatches<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const count = Math.ceil(rows.length / size)
  return Array.from({ length: count }, (_, index) => rows.slice(index * size, (index + 1) * size))
}

/** Parses a JSON column that Waymark wrote. */
export function parseColumn<Value>(text: string): Value {
  try {
    return JSON.parse(text) as Value // the type that was written into this column
  } catch (cause) {
    throw new UnreadableRow(cause)
  }
}

/** A column without valid JSON. */
class UnreadableRow extends Error {
  readonly code = 'UNREADABLE_ROW'

  constructor(cause: unknown) {
    super('a column holds text that is not JSON', { cause })
  }
}

export function parseColumnOrNull<Value>(text: string | null): Value | null {
  return text === null ? null : parseColumn<Value>(text)
}

/** A page of the matching rows, newest first, with the total. */
export async function pageOf<Name extends keyof Tables, Item>(
  matching: SelectQueryBuilder<Tables, Name, object>,
  { before, limit }: PageRequest,
  itemOf: (row: Selectable<Tables[Name]>) => Item,
  order: 'seq' | 'revision' = 'seq',
): Promise<Page<Item>> {
  const older = before === undefined ? matching : matching.where(sql<boolean>`seq < ${before}`)
  const found = await older
    .selectAll()
    .orderBy(sql`${sql.ref(order)} desc`)
    .limit(limit)
    .execute()
  const rows = found as unknown as readonly (Selectable<Tables[Name]> & { readonly seq: number })[] // rows of that table
  const items = rows.map((row) => ({ seq: row.seq, item: itemOf(row) }))
  if (before === undefined && rows.length < limit) return { items, total: rows.length }
  const { total } = await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

/** A sum as a number, which PostgreSQL returns as text; null without rows. */
export function numberOrNull(sum: number | null | undefined): number | null {
  return sum == null ? null : Number(sum)
}

/** The actor of a log entry's row. */
export function actorOfRow({ actor, channel }: { readonly actor: string; readonly channel: string }): Actor {
  const author = parseColumn<Omit<Actor, 'channel'>>(actor)
  return { ...author, channel: channel as Actor['channel'] } // as it was written
}

/** Caches a query by its values. A write creates new readers. */
export function cachedQuery<const Values extends readonly unknown[], Answer>(
  query: (...values: Values) => Promise<Answer>,
): (...values: Values) => Promise<Answer> {
  const answers = new Map<string, Promise<Answer>>()
  return (...values) => {
    const key = JSON.stringify(values)
    const cached = answers.get(key) ?? query(...values)
    answers.set(key, cached)
    return cached
  }
}
