import { holdRow } from '../rows/hold-row.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyHoldOpened(projecting: Projecting, { hold }: Of<'hold.opened'>): Promise<void> {
  await projecting.db.insertInto('hold').values(holdRow(projecting, hold)).execute()
}

export async function applyHoldClosed(
  { db, projectId, at, actor }: Projecting,
  { holdId, status, answer }: Of<'hold.closed'>,
): Promise<void> {
  await db
    .updateTable('hold')
    .set({ status, answer, closed_by: actor.name, closed_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', holdId)
    .execute()
}
