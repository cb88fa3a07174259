import type { ReadScope } from './scope.ts'

/** Ids that begin with a prefix, in order of the id. */
export async function idsLike(
  { db, projectId }: ReadScope,
  table: 'mission' | 'task' | 'hold' | 'run',
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
