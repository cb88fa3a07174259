import { sql } from 'kysely'
import { holdingKinds } from '../../domain/track/holds-gate.ts'
import { holdRow } from '../rows/hold-row.ts'
import { countEveryDependency } from './open-dependencies.ts'
import type { Of, Projecting } from './projecting.ts'
import { recountDependents, taskBefore } from './task-state.ts'

export async function applyHoldOpened(projecting: Projecting, { hold }: Of<'hold.opened'>): Promise<void> {
  await projecting.db.insertInto('hold').values(holdRow(projecting, hold)).execute()
  await recountHolds(projecting, hold.taskId)
}

export async function applyHoldClosed(
  projecting: Projecting,
  { holdId, status, answer }: Of<'hold.closed'>,
): Promise<void> {
  const { db, projectId, at, actor } = projecting
  const closed = await db
    .updateTable('hold')
    .set({ status, answer, closed_by: actor.name, closed_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', holdId)
    .returning('task_id')
    .executeTakeFirst()
  await recountHolds(projecting, closed?.task_id ?? null)
}

/** A done task with something open that holds up is not settled: what depends on it waits. */
async function recountHolds(projecting: Projecting, taskId: string | null): Promise<void> {
  if (taskId === null) return
  const before = await taskBefore(projecting, taskId)
  const kinds = await kindsThatHold(projecting)
  const { rows } = await sql<{ open_holds: number }>`
    update task set open_holds = ${openHolds(kinds)}
      where project_id = ${projecting.projectId} and id = ${taskId} returning open_holds`.execute(
    projecting.db,
  )
  const [after] = rows
  if (after) await recountDependents(projecting, before, { ...before, ...after })
}

/** The project holds up other work than before: every task is looked at again. */
export async function holdUpAnew(projecting: Projecting): Promise<void> {
  const kinds = await kindsThatHold(projecting)
  await sql`update task set open_holds = ${openHolds(kinds)} where project_id = ${projecting.projectId}`.execute(
    projecting.db,
  )
  await countEveryDependency(projecting)
}

async function kindsThatHold({ db, projectId }: Projecting): Promise<readonly string[]> {
  const row = await db
    .selectFrom('setting')
    .select('value')
    .where('project_id', '=', projectId)
    .where('name', '=', 'holds_gate')
    .executeTakeFirst()
  return holdingKinds(row?.value)
}

function openHolds(kinds: readonly string[]) {
  if (kinds.length === 0) return sql`0`
  return sql`(select count(*) from hold
    where hold.project_id = task.project_id and hold.task_id = task.id
      and hold.status = 'open' and hold.kind in (${sql.join(kinds)}))`
}
