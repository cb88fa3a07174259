import type { Whereabouts } from '../../domain/track/records.ts'
import { decisionRow, issueRow, progressRow } from '../rows/said-rows.ts'
import { renewClaim } from './claim-renewal.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyDecision(
  projecting: Projecting,
  { decision }: Of<'decision.logged'>,
): Promise<void> {
  await projecting.db.insertInto('decision').values(decisionRow(projecting, decision)).execute()
  await touchAttempt(projecting, decision)
  await renewClaim(projecting, decision.taskId)
}

export async function applyIssue(projecting: Projecting, { issue }: Of<'issue.logged'>): Promise<void> {
  await projecting.db.insertInto('issue').values(issueRow(projecting, issue)).execute()
  await touchAttempt(projecting, issue)
  await renewClaim(projecting, issue.taskId)
}

export async function applyProgress(
  projecting: Projecting,
  { progress }: Of<'progress.logged'>,
): Promise<void> {
  await projecting.db.insertInto('progress').values(progressRow(projecting, progress)).execute()
  await touchAttempt(projecting, progress)
  await renewClaim(projecting, progress.taskId)
}

/** Whoever speaks is still at work: the attempt is not stale. */
export async function touchAttempt(
  { db, projectId, at }: Projecting,
  { attemptId }: Pick<Whereabouts, 'attemptId'>,
): Promise<void> {
  if (attemptId === null) return
  await db
    .updateTable('attempt')
    .set({ last_call_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', attemptId)
    .where('status', '=', 'open')
    .execute()
}
