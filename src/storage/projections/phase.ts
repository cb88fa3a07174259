import { type Selectable, sql } from 'kysely'
import type { Phase } from '../../domain/track/mission.ts'
import { phaseRow } from '../rows/mission-row.ts'
import { numbering } from '../rows/phase-number.ts'
import { phaseOrder } from '../rows/task-order.ts'
import type { PhaseTable } from '../schema/mission-tables.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyPhaseCreated(
  projecting: Projecting,
  { phase }: Of<'phase.created'>,
): Promise<void> {
  await retireId(projecting, phase.id)
  const number = await numberOf(projecting, phase)
  await projecting.db
    .insertInto('phase')
    .values(phaseRow(projecting, { ...phase, number }))
    .execute()
}

/** A phase of the project's own plan has none. */
async function numberOf(projecting: Projecting, { missionId, number: asked }: Phase): Promise<number | null> {
  if (missionId === null) return null
  const { db, projectId } = projecting
  const rows = await db
    .selectFrom('phase')
    .select(['id', 'number'])
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .execute()
  const taken = new Map(rows.flatMap(({ id, number }) => (number === null ? [] : [[number, id] as const])))
  const { number, moved } = numbering(taken, asked)
  if (moved) await reorderTasks(projecting, await update(projecting, moved.id, { number: moved.number }))
  return number
}

/** A phase of a mission that has ended leaves its id to a new one, and goes on as `P1@m-…`. */
async function retireId(projecting: Projecting, id: string): Promise<void> {
  const { db, projectId } = projecting
  const phase = await db
    .selectFrom('phase')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (phase === undefined || phase.mission_id === null) return
  const kept = `${id}@${phase.mission_id}`
  await update(projecting, id, { number: null })
  await db
    .insertInto('phase')
    .values({ ...phase, id: kept })
    .execute()
  for (const table of ['task', 'milestone', 'attempt', 'decision', 'issue', 'progress', 'hold'] as const) {
    await sql`update ${sql.table(table)} set phase_id = ${kept}
      where project_id = ${projectId} and phase_id = ${id}`.execute(db)
  }
  await sql`update task_place set place = ${kept}
    where project_id = ${projectId} and kind = 'phase' and place = ${id}`.execute(db)
  await sql`update task_count set place = ${kept}
    where project_id = ${projectId} and kind in ('phase', 'home_phase') and place = ${id}`.execute(db)
  await db.deleteFrom('phase').where('project_id', '=', projectId).where('id', '=', id).execute()
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
