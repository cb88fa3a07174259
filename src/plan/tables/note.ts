import type { Insertable, Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { NoteId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { pageOf, prepareByLimit, prepareQuery } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { Note } from '../domain/plan.ts'
import { renewClaim } from './claim.ts'

export interface NoteTable {
  project_id: string
  id: string
  seq: number
  task_id: string
  content: string
  kind: string | null
  role: string | null
  author: string
  created_at: number
}

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

export async function applyNoteAdded(
  projecting: ProjectionContext,
  { note }: ProjectEventOf<'note.added'>,
): Promise<void> {
  await projecting.db.insertInto('note').values(noteRow(projecting, note)).execute()
  await renewClaim(projecting, note.taskId)
}

const newestNotes = prepareByLimit((limit) =>
  prepareQuery((db, projectId: string, taskId: string) =>
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
  request: PageRequest,
): Promise<Page<Note>> {
  if (request.before === undefined) {
    const rows = await newestNotes(request.limit)(db, projectId, taskId)
    const items = rows.map((row) => ({ seq: row.seq, item: noteOf(row) }))
    if (rows.length < request.limit) return { items, total: rows.length }
  }
  const notes = db.selectFrom('note').where('project_id', '=', projectId).where('task_id', '=', taskId)
  return pageOf(notes, request, noteOf)
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
