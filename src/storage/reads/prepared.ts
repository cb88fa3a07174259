import type { CompiledQuery, DialectAdapter, Kysely } from 'kysely'
import type { Tables } from '../schema/tables.ts'

interface Prepared<Row> {
  readonly query: CompiledQuery<Row>
  /** For each parameter the value that it takes; -1 for one that is always the same. */
  readonly slots: readonly number[]
}

type Build<Row, Values extends readonly string[]> = (
  db: Kysely<Tables>,
  ...values: Values
) => { compile(): CompiledQuery<Row> }

/**
 * A query that is asked so often that building it each time takes longer than answering it: it is built once.
 * SQLite plans it once too, unless it has an order or a limit that is a parameter: then each new value plans it anew.
 */
export function prepared<Row, Values extends readonly string[]>(build: Build<Row, Values>) {
  const built = new WeakMap<DialectAdapter, Prepared<Row>>()
  return async (db: Kysely<Tables>, ...values: Values): Promise<readonly Row[]> => {
    const { adapter } = db.getExecutor()
    const ready = built.get(adapter) ?? prepare(build, db, values)
    built.set(adapter, ready)
    const { query, slots } = ready
    const parameters = slots.map((slot, at) => (slot < 0 ? query.parameters[at] : values[slot]))
    const { rows } = await db.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}

function prepare<Row, Values extends readonly string[]>(
  build: Build<Row, Values>,
  db: Kysely<Tables>,
  values: Values,
): Prepared<Row> {
  const marks: readonly string[] = values.map((_, slot) => `\u0000${slot}`)
  const slotOf = new Map<unknown, number>(marks.map((mark, slot) => [mark, slot]))
  const query = build(db, ...(marks as Values)).compile() // as many strings
  return { query, slots: query.parameters.map((value) => slotOf.get(value) ?? -1) }
}
