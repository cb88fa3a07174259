import { approvalRow, commandRow, refusalRow } from '../rows/run-evidence-rows.ts'
import { holdUpAnew } from './hold.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyRunRefused(projecting: Projecting, { refusal }: Of<'run.refused'>): Promise<void> {
  await projecting.db.insertInto('run_refusal').values(refusalRow(projecting, refusal)).execute()
}

export async function applyRunApproved(
  projecting: Projecting,
  { approval }: Of<'run.approved'>,
): Promise<void> {
  await projecting.db.insertInto('run_approval').values(approvalRow(projecting, approval)).execute()
}

export async function applyCommandStarted(
  projecting: Projecting,
  { command }: Of<'command.started'>,
): Promise<void> {
  await projecting.db.insertInto('command_result').values(commandRow(projecting, command)).execute()
}

export async function applyCommandEnded(
  { db, projectId, at }: Projecting,
  { commandId, status, exitCode, output, treeHeld }: Of<'command.ended'>,
): Promise<void> {
  await db
    .updateTable('command_result')
    .set({ status, exit_code: exitCode, output, tree_held: treeHeld ? 1 : 0, ended_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', commandId)
    .execute()
}

export async function applySettingChanged(
  projecting: Projecting,
  { name, value }: Of<'setting.changed'>,
): Promise<void> {
  const { db, projectId } = projecting
  await db
    .insertInto('setting')
    .values({ project_id: projectId, name, value })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ value }))
    .execute()
  if (name === 'holds_gate') await holdUpAnew(projecting)
}
