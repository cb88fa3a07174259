import type { Attempt } from '../../domain/track/task.ts'
import { type ClaimColumns, claimColumns, unclaimed } from '../rows/claim-row.ts'
import type { Of, Projecting } from './projecting.ts'
import { changeTask, taskBefore } from './task-state.ts'

export async function applyTaskClaimed(
  projecting: Projecting,
  { taskId, claim }: Of<'task.claimed'>,
): Promise<void> {
  const before = await taskBefore(projecting, taskId)
  await changeTask(projecting, before, { status: 'in_progress', resolution: null, ...claimColumns(claim) })
}

/** The task is to do again, unless an open attempt holds it. */
export async function applyClaimEnded(projecting: Projecting, { taskId }: Of<'claim.ended'>): Promise<void> {
  const before = await taskBefore(projecting, taskId)
  if (before.status !== 'in_progress' || before.claim_expires_at === null) return
  await changeTask(projecting, before, { status: 'to_do', resolution: null, ...unclaimed })
}

/** An attempt keeps the claim that runs, and its token; without one it makes its opener's. */
export function heldBy(attempt: Attempt, before: ClaimColumns, at: number): ClaimColumns {
  const { claim_agent, claim_actor, claim_connection, claim_token, claimed_at, claim_expires_at } = before
  const runs = claim_token !== null && (claim_expires_at === null || claim_expires_at > at)
  if (runs) {
    return { claim_agent, claim_actor, claim_connection, claim_token, claimed_at, claim_expires_at: null }
  }
  return claimColumns({
    agent: attempt.agentName ?? attempt.actor.name,
    actor: attempt.actor.name,
    ...(attempt.actor.connection !== undefined && { connection: attempt.actor.connection }),
    token: attempt.id,
    claimedAt: attempt.openedAt,
    expiresAt: null,
  })
}
