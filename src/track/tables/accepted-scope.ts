import type { AttemptId } from '../../kernel/id.ts'
import { parseColumn } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'

/** How many files out of scope of each attempt a person approved; absent for none. */
export async function acceptedOutOfScope(
  { db, projectId }: ReadScope,
  attemptIds: readonly AttemptId[],
): Promise<ReadonlyMap<AttemptId, number>> {
  if (attemptIds.length === 0) return new Map()
  const items = await db
    .selectFrom('inbox_item')
    .select(['attempt_id', 'paths'])
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', attemptIds)
    .where('kind', '=', 'scope')
    .where('action', '=', 'approved')
    .execute()
  if (items.length === 0) return new Map()
  const approved = Map.groupBy(items, ({ attempt_id: id }) => id ?? '')
  const pathsOf = new Map(
    [...approved].map(([id, own]) => [
      id,
      new Set(own.flatMap(({ paths }) => parseColumn<readonly string[]>(paths))),
    ]),
  )
  const files = await db
    .selectFrom('attempt_change')
    .select(['attempt_id', 'path'])
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', [...pathsOf.keys()])
    .where('scope', '=', 'out')
    .execute()
  const counts = new Map<AttemptId, number>()
  for (const { attempt_id: id, path } of files) {
    if (!pathsOf.get(id)?.has(path)) continue
    const attempt = id as AttemptId // a brand
    counts.set(attempt, (counts.get(attempt) ?? 0) + 1)
  }
  return counts
}
