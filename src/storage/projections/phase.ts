import type { Selectable } from 'kysely'
import { phaseRow } from '../rows/mission-row.ts'
import { phaseOrder } from '../rows/task-order.ts'
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

export async function applyPhaseEdited(
  projecting: Projecting,
  { phaseId, changes }: Of<'phase.edited'>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  const { name, status, sortOrder } = changes
  const ended = status === 'completed' ? projecting.at : null
  const phase = await update(projecting, phaseId, {
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status, completed_at: ended }),
    ...(sortOrder !== undefined && { sort_order: sortOrder }),
  })
  if (sortOrder !== undefined) await reorderTasks(projecting, phase)
}

async function reorderTasks(
  { db, projectId }: Projecting,
  phase: Pick<Selectable<PhaseTable>, 'id' | 'sort_order' | 'number'>,
): Promise<void> {
  await db
    .updateTable('task')
    .set({ order_phase: phaseOrder(phase) })
    .where('project_id', '=', projectId)
    .where('phase_id', '=', phase.id)
    .execute()
}

async function update(
  { db, projectId }: Projecting,
  phaseId: string,
  changed: Partial<PhaseTable>,
): Promise<Selectable<PhaseTable>> {
  return db
    .updateTable('phase')
    .set(changed)
    .where('project_id', '=', projectId)
    .where('id', '=', phaseId)
    .returningAll()
    .executeTakeFirstOrThrow()
}
