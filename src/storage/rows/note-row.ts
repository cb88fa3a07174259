import type { Insertable, Selectable } from 'kysely'
import type { NoteId, TaskId } from '../../domain/id.ts'
import type { Note } from '../../domain/plan/plan.ts'
import type { NoteTable } from '../schema/record-tables.ts'
import type { RowKey } from './row-key.ts'

export function noteRow({ projectId, seq }: RowKey, note: Note): Insertable<NoteTable> {
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

export function noteOf(row: Selectable<NoteTable>): Note {
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
