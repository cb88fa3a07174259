import type { TaskId } from '../../../domain/id.ts'
import type { Note } from '../../../domain/plan/plan.ts'
import type { Page, PageRequest } from '../../../ports/reads/page.ts'
import { noteOf } from '../../rows/note-row.ts'
import type { ReadScope } from '../scope.ts'

/** Newest first. */
export async function notesOf(
  { db, projectId }: ReadScope,
  taskId: TaskId,
  { limit, before }: PageRequest,
): Promise<Page<Note>> {
  const notes = db.selectFrom('note').where('project_id', '=', projectId).where('task_id', '=', taskId)
  const rows = await notes
    .selectAll()
    .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  const { total } = await notes.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { items: rows.map((row) => ({ seq: row.seq, item: noteOf(row) })), total }
}

/** Oldest first. */
export async function notesWithIds(
  { db, projectId }: ReadScope,
  ids: readonly string[],
): Promise<readonly Note[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('note')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
    .orderBy('seq')
    .limit(ids.length)
    .execute()
  return rows.map(noteOf)
}
