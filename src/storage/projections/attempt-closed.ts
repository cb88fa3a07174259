import { countChanges } from '../../domain/track/completion-report.ts'
import type { Attempt, TaskOutcome } from '../../domain/track/task.ts'
import { unclaimed } from '../rows/claim-row.ts'
import type { AttemptTable } from '../schema/task-tables.ts'
import { insertChanges } from './attempt-changes.ts'
import { addToMission, addToPhase } from './mission-totals.ts'
import type { Of, Projecting } from './projecting.ts'
import { changeTask, taskBefore } from './task-state.ts'

/** An attempt ends with what was said and what was measured; a failed one leaves its task to do. */
export async function applyClosed(projecting: Projecting, closed: Of<'attempt.closed'>): Promise<void> {
  const attempt = await closeAttempt(projecting, closed)
  await insertEnd(projecting, closed)
  await insertChanges(projecting, closed.attemptId, closed.evidence.changes)
  await addToPhase(projecting, attempt.phase_id)
  await addToMission(projecting, attempt, closed)
  const before = await taskBefore(projecting, closed.taskId)
  await changeTask(projecting, before, { ...taskAfter[closed.status], ...unclaimed })
}

const taskAfter = {
  success: { status: 'done', resolution: 'success' },
  partial_success: { status: 'done', resolution: 'partial_success' },
  failed: { status: 'to_do', resolution: null },
} as const satisfies Record<TaskOutcome, object>

async function closeAttempt(
  { db, projectId, at }: Projecting,
  { attemptId, status, evidence }: Of<'attempt.closed'>,
): Promise<Pick<AttemptTable, 'mission_id' | 'phase_id' | 'tree_top'>> {
  const counts = countChanges(evidence.changes)
  return db
    .updateTable('attempt')
    .set({
      status: status satisfies Attempt['status'],
      end_snapshot: evidence.endSnapshot === null ? null : JSON.stringify(evidence.endSnapshot),
      files_added: counts.added,
      files_modified: counts.modified,
      files_deleted: counts.deleted,
      files_renamed: counts.renamed,
      scope_matches: evidence.scope.matches === null ? null : Number(evidence.scope.matches),
      last_call_at: at,
      closed_at: at,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', attemptId)
    .returning(['mission_id', 'phase_id', 'tree_top'])
    .executeTakeFirstOrThrow()
}

async function insertEnd({ db, projectId }: Projecting, closed: Of<'attempt.closed'>): Promise<void> {
  const { changes: _, mission: __, ...evidence } = closed.evidence // these have tables of their own
  await db
    .insertInto('attempt_end')
    .values({
      project_id: projectId,
      attempt_id: closed.attemptId,
      outcome: JSON.stringify(closed.outcome),
      evidence: JSON.stringify(evidence),
      input_hash: closed.inputHash,
      answer: JSON.stringify(closed.answer),
    })
    .execute()
}
