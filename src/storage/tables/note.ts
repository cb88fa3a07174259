import type { Insertable, Selectable } from 'kysely'
import type { FactOf } from '../../domain/fact-kinds.ts'
import type { NoteId, TaskId } from '../../domain/id.ts'
import type { Note } from '../../domain/plan/plan.ts'
import type { Page, PageRequest } from '../../ports/reads.ts'
import { renewClaim } from './claim.ts'
import { prepared, preparedUpTo } from './query.ts'
import type { NoteTable } from './records.ts'
import type { Projecting, ReadScope, RowKey } from './scope.ts'

function noteRow({ projectId, seq }: RowKey, note: Note): Insertable<NoteTable> {
  return {
    project_id: projectId,
    id: note.id,
    seq,
    task_id: note.taskId,
    content: note.content,
    kind: note.kind,
    role: note.role,
    author: note.author,
    created_at: note.createdAt,
  }
}

function noteOf(row: Selectable<NoteTable>): Note {
  return {
    id: row.id as NoteId, // a brand
    taskId: row.task_id as TaskId, // a brand
    content: row.content,
    kind: row.kind as Note['kind'], // as it was written
    role: row.role,
    author: row.author,
    createdAt: row.created_at,
  }
}

export async function applyNoteAdded(projecting: Projecting, { note }: FactOf<'note.added'>): Promise<void> {
  await projecting.db.insertInto('note').values(noteRow(projecting, note)).execute()
  await renewClaim(projecting, note.taskId)
}

const newestNotes = preparedUpTo((limit) =>
  prepared((db, projectId: string, taskId: string) =>
    db
      .selectFrom('note')
      .selectAll()
      .where('project_id', '=', projectId)
      .where('task_id', '=', taskId)
      .orderBy('seq', 'desc')
      .limit(limit),
  ),
)

/** Newest first. */
export async function notesOf(
  { db, projectId }: ReadScope,
  taskId: TaskId,
  { limit, before }: PageRequest,
): Promise<Page<Note>> {
  const notes = db.selectFrom('note').where('project_id', '=', projectId).where('task_id', '=', taskId)
  const older = (seq: number) =>
    notes.selectAll().where('seq', '<', seq).orderBy('seq', 'desc').limit(limit).execute()
  const rows = await (before === undefined ? newestNotes(limit)(db, projectId, taskId) : older(before))
  const items = rows.map((row) => ({ seq: row.seq, item: noteOf(row) }))
  if (before === undefined && rows.length < limit) return { items, total: rows.length }
  const { total } = await notes.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { items, total }
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
