import { milestoneRow } from '../rows/milestone-row.ts'
import type { Of, Projecting } from './projecting.ts'
import { moveTask } from './task-moved.ts'

export async function applyMilestoneCreated(
  projecting: Projecting,
  { milestone }: Of<'milestone.created'>,
): Promise<void> {
  await projecting.db.insertInto('milestone').values(milestoneRow(projecting, milestone)).execute()
}

export async function applyMilestoneEdited(
  projecting: Projecting,
  { milestoneId, changes }: Of<'milestone.edited'>,
): Promise<void> {
  const { name, criterion, reached, phaseId } = changes
  const changed = {
    ...(name !== undefined && { name }),
    ...(criterion !== undefined && { criterion }),
    ...(reached !== undefined && { reached: reached ? 1 : 0 }),
    ...(phaseId !== undefined && { phase_id: phaseId }),
  }
  if (Object.keys(changed).length === 0) return
  await projecting.db
    .updateTable('milestone')
    .set(changed)
    .where('project_id', '=', projecting.projectId)
    .where('id', '=', milestoneId)
    .execute()
  if (phaseId !== undefined) await moveTasks(projecting, milestoneId, phaseId)
}

/** What is done stays where it was done. */
async function moveTasks(projecting: Projecting, milestoneId: string, phaseId: string): Promise<void> {
  const tasks = await projecting.db
    .selectFrom('task')
    .selectAll()
    .where('project_id', '=', projecting.projectId)
    .where('milestone_id', '=', milestoneId)
    .where('status', '<>', 'done')
    .where((eb) => eb.or([eb('phase_id', 'is', null), eb('phase_id', '<>', phaseId)]))
    .execute()
  for (const task of tasks) await moveTask(projecting, task, phaseId)
}
