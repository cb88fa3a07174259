import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { TaskTable } from '../../schema/task-tables.ts'
import type { ReadScope } from '../scope.ts'

/** The first tasks of several parts that share none: each is read in order from its own index, then they are merged. */
export async function firstTasks(
  { db }: ReadScope,
  parts: readonly RawBuilder<unknown>[],
  { order, limit }: { readonly order: RawBuilder<unknown>; readonly limit: number },
): Promise<readonly Selectable<TaskTable>[]> {
  if (parts.length === 0) return []
  const firsts = parts.map((part) => sql`select * from task where ${part} order by ${order} limit ${limit}`)
  const [only] = firsts
  const query =
    firsts.length === 1 && only
      ? only
      : sql`${sql.join(
          firsts.map((first, index) => sql`select * from (${first}) as ${sql.ref(`part${index}`)}`),
          sql` union all `,
        )} order by ${order} limit ${limit}`
  const { rows } = await sql<Selectable<TaskTable>>`${query}`.execute(db)
  return rows
}
