// One statement takes 32,766 values on SQLite and 65,535 on PostgreSQL.
const size = 500

/** Rows in groups that fit one statement each. */
export function inBatches<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const count = Math.ceil(rows.length / size)
  return Array.from({ length: count }, (_, index) => rows.slice(index * size, (index + 1) * size))
}
