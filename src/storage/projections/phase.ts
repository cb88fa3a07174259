import { phaseRow } from '../rows/mission-row.ts'
import type { PhaseTable } from '../schema/mission-tables.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyPhaseCreated(
  projecting: Projecting,
  { phase }: Of<'phase.created'>,
): Promise<void> {
  await projecting.db.insertInto('phase').values(phaseRow(projecting, phase)).execute()
}

export async function applyPhaseReopened(
  projecting: Projecting,
  { phaseId }: Of<'phase.reopened'>,
): Promise<void> {
  await update(projecting, phaseId, { status: 'in_progress', completed_at: null })
}

export async function applyPhaseCompleted(
  projecting: Projecting,
  { phaseId }: Of<'phase.completed'>,
): Promise<void> {
  await update(projecting, phaseId, { status: 'completed', completed_at: projecting.at })
}

async function update(
  { db, projectId }: Projecting,
  phaseId: string,
  changed: Partial<PhaseTable>,
): Promise<void> {
  await db
    .updateTable('phase')
    .set(changed)
    .where('project_id', '=', projectId)
    .where('id', '=', phaseId)
    .execute()
}
