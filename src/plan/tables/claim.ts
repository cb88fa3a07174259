import { type Selectable, sql } from 'kysely'
import { lastPossibleEnd } from '../../kernel/lease.ts'
import { prepareByIds, prepareQuery } from '../../store/tables/query.ts'
import type { ProjectionContext } from '../../store/tables/tables.ts'
import { claimDurationMs } from '../domain/claims.ts'
import type { Claim } from '../domain/plan.ts'
import type { TaskTable } from './task.ts'

/** Every token of a claim: it identifies its task even after the claim ended. */
export interface ClaimTokenTable {
  project_id: string
  token_hash: string
  task_id: string
}

export type ClaimColumns = Pick<
  Selectable<TaskTable>,
  'claim_agent' | 'claim_actor' | 'claim_connection' | 'claim_token_hash' | 'claimed_at' | 'claim_expires_at'
>

export const unclaimed: ClaimColumns = {
  claim_agent: null,
  claim_actor: null,
  claim_connection: null,
  claim_token_hash: null,
  claimed_at: null,
  claim_expires_at: null,
}

export function claimColumns(claim: Claim): ClaimColumns {
  return {
    claim_agent: claim.agent,
    claim_actor: claim.actor,
    claim_connection: claim.connection ?? null,
    claim_token_hash: claim.tokenHash,
    claimed_at: claim.claimedAt,
    claim_expires_at: claim.expiresAt,
  }
}

export function claimOf(row: ClaimColumns): Claim | null {
  const { claim_agent: agent, claim_actor: actor, claim_token_hash: tokenHash, claimed_at: claimedAt } = row
  if (agent === null || actor === null || tokenHash === null || claimedAt === null) return null
  const connection = row.claim_connection
  return {
    agent,
    actor,
    ...(connection !== null && { connection }),
    tokenHash,
    claimedAt,
    expiresAt: row.claim_expires_at,
  }
}

export const taskById = prepareQuery((db, projectId: string, id: string) =>
  db.selectFrom('task').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

export const tasksByIds = prepareByIds((db, projectId, ids) =>
  db.selectFrom('task').selectAll().where('project_id', '=', projectId).where('id', 'in', ids),
)

export async function keepToken(
  { db, projectId }: ProjectionContext,
  taskId: string,
  tokenHash: string,
): Promise<void> {
  await db
    .insertInto('claim_token')
    .values({ project_id: projectId, token_hash: tokenHash, task_id: taskId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The condition of an ended claim: expired, or claimed while the clock was ahead. Must match `isHeld`. */
export function endedClaimCondition(now: number) {
  return sql<boolean>`(claim_expires_at <= ${now} or claim_expires_at > ${lastPossibleEnd(now, claimDurationMs)})`
}

/** Any call about a task renews its claim, whoever calls. */
export async function renewClaim({ db, projectId, at }: ProjectionContext, taskId: string): Promise<void> {
  await renewals(db, at + claimDurationMs, projectId, taskId, at, lastPossibleEnd(at, claimDurationMs))
}

/** A claim does not expire during an attempt; an ended claim stays ended. */
const renewals = prepareQuery(
  (db, until: number, projectId: string, taskId: string, now: number, latest: number) =>
    db
      .updateTable('task')
      .set({ claim_expires_at: until })
      .where('project_id', '=', projectId)
      .where('id', '=', taskId)
      .where('claim_expires_at', '>', now)
      .where('claim_expires_at', '<=', latest),
)

/** A change of the task renews its claim, too. */
export async function touchTask(
  { db, projectId, at: updatedAt }: ProjectionContext,
  taskId: string,
): Promise<void> {
  await db
    .updateTable('task')
    .set({
      updated_at: updatedAt,
      claim_expires_at: sql<number>`case when claim_expires_at is null or ${endedClaimCondition(updatedAt)} then claim_expires_at else ${updatedAt + claimDurationMs} end`,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', taskId)
    .execute()
}
