import { noteRow } from '../rows/note-row.ts'
import { renewClaim } from './claim-renewal.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyNoteAdded(projecting: Projecting, { note }: Of<'note.added'>): Promise<void> {
  await projecting.db.insertInto('note').values(noteRow(projecting, note)).execute()
  await renewClaim(projecting, note.taskId)
}
