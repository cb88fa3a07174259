import { type Actor, displayName, identityOf } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { TaskId, TransactionContext } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { isLeaseRunning } from '../../kernel/lease.ts'
import { type Attempt, isOpenedBy, tokenOf } from '../../track/domain/task.ts'
import type { Claim, NewPlanEvent, Note, PlannedTask, TaskStatus } from './plan.ts'

/** Thirty minutes, in milliseconds. */
export const claimDurationMs = 30 * 60 * 1000

export function isHeld(claim: Claim | null, now: number): boolean {
  if (claim === null) return false
  return claim.expiresAt === null || isLeaseRunning(claim.expiresAt, { now, length: claimDurationMs })
}

/** A task's status in taskman's words. An expired claim does not keep it in progress. */
export function planStatus({ task, claim }: PlannedTask, now: number): TaskStatus {
  if (task.status !== 'in_progress' || claim === null) return task.status
  return isHeld(claim, now) ? 'in_progress' : 'to_do'
}

/** The connection's actor, and the agent's own name. */
export interface Claimant {
  readonly actor: Actor
  readonly agentName: string | null
}

/** Claims a task for thirty minutes. The caller has checked, under the lock, that it is free. */
export function claimTask(
  { task, claim }: PlannedTask,
  claimant: Claimant,
  setting: TransactionContext,
): { readonly claim: Claim; readonly token: string; readonly events: readonly NewPlanEvent[] } {
  const token = setting.ids.next('claim')
  const newClaim: Claim = {
    agent: displayName(claimant),
    actor: holderOf(claimant),
    ...(claimant.actor.connection !== undefined && { connection: claimant.actor.connection }),
    tokenHash: setting.ids.hash(token),
    claimedAt: setting.at,
    expiresAt: setting.at + claimDurationMs,
  }
  const before = claim === null ? [] : endClaim(task.id, claim, 'expired')
  return {
    claim: newClaim,
    token,
    events: [...before, { kind: 'task.claimed', taskId: task.id, claim: newClaim }],
  }
}

function endClaim(
  taskId: PlannedTask['task']['id'],
  claim: Claim,
  why: 'released' | 'expired',
): readonly NewPlanEvent[] {
  return [{ kind: 'claim.ended', taskId, agent: claim.agent, why }]
}

/** Ends a claim that its holder or a person releases. */
export function releaseClaim({ task, claim }: PlannedTask, now: number): readonly NewPlanEvent[] {
  if (claim === null) return []
  return endClaim(task.id, claim, isHeld(claim, now) ? 'released' : 'expired')
}

/** Ends an expired claim, with a note about its holder. */
export function expireClaim(
  { task, claim }: PlannedTask,
  setting: TransactionContext,
): readonly NewPlanEvent[] {
  if (claim === null) return []
  const note: Note = {
    id: setting.ids.next('note'),
    taskId: task.id,
    content: expiryWords(claim),
    kind: 'progress',
    role: null,
    author: 'waymark',
    createdAt: setting.at,
  }
  return [...endClaim(task.id, claim, 'expired'), { kind: 'note.added', note }]
}

function expiryWords({ agent, claimedAt, expiresAt }: Claim): string {
  const until = expiresAt === null ? '' : ` It expired at ${instant(expiresAt)}.`
  return `${agent} claimed it at ${instant(claimedAt)} and did not start it.${until}`
}

/** Whether the claimant holds the claim, with or without its token. On the claiming connection, names only matter if they differ. */
function isOwnClaim(claim: Claim, claimant: Claimant): boolean {
  if (proofIn(claim) !== proofOf(claimant)) return false
  const isOwnName = claimant.agentName === null && explicitAgentName(claim) === null
  // A person is the same in the dashboard and in the terminal.
  if (claimant.actor.kind === 'person' && proofOf(claimant) !== null && isOwnName) return true
  if (claim.connection !== undefined && claim.connection === claimant.actor.connection) {
    const isUnnamed = claimant.agentName === null || claim.agent === claimant.actor.name
    if (isUnnamed || claim.agent === claimant.agentName) return true
  }
  return claim.actor === holderOf(claimant) && claim.agent === displayName(claimant)
}

/** The agent's own name at the claim; null if it gave none. */
export function explicitAgentName({ agent, actor, connection }: Claim): string | null {
  const [name] = actor.split('\n')
  return agent === name || name === connection ? null : agent
}

/** The caller's name from its claim or open attempt at a task. */
export function ownName(
  { claim }: PlannedTask,
  attempt: Attempt | null,
  setting: { readonly actor: Actor; readonly at: number },
): string | null {
  const { actor, at } = setting
  if (attempt !== null) return isOpenedBy(attempt, actor, null) ? attempt.agentName : null
  const isHolder = claim !== null && isHeld(claim, at) && isOwnClaim(claim, { actor, agentName: null })
  return isHolder ? explicitAgentName(claim) : null
}

/** Distinguishes unnamed agents of one client by connection, agents of one name by token, and people by identity. */
function holderOf({ actor, agentName }: Claimant): string {
  const name = agentName === null ? (actor.connection ?? actor.name) : actor.name
  const proof = proofOf({ actor })
  return proof === null ? name : `${name}\n${proof}`
}

/** An agent's token or a person's identity, which are never the same. */
function proofOf({ actor }: Pick<Claimant, 'actor'>): string | null {
  if (actor.kind === 'agent') return tokenOf(actor)
  return actor.identity === undefined ? null : identityOf(actor)
}

function proofIn({ actor }: Claim): string | null {
  return actor.split('\n')[1] ?? null
}

/** Whether a claim is of an agent of this name, which may have lost its connection and the claim's token. */
export function isOfSameName(claim: Claim, claimant: Claimant): boolean {
  return proofIn(claim) === proofOf(claimant) && claim.agent === displayName(claimant)
}

/** Refuses callers other than the holder of a held task. */
export function assertUnclaimed(planned: PlannedTask, claimant: Claimant, now: number): void {
  const { claim, task } = planned
  if (claim === null || !isHeld(claim, now) || isOwnClaim(claim, claimant)) return
  const until = claim.expiresAt === null ? '' : `, until ${instant(claim.expiresAt)}`
  const other = callTo('taskman_task_next')
  throw new Failure('CONFLICT', `Task ${task.id} is claimed by ${claim.agent}${until}.`, {
    reason: 'claim_held_by_other',
    hint: isOfSameName(claim, claimant)
      ? hintOf`If that was you, before you lost your context: ${callTo('start_task', { planned_task_id: task.id, take_over: true })}. Otherwise get another task with ${other}.`
      : hintOf`Get another task with ${other}, or wait for the claim to end.`,
  })
}

/** The token must belong to the running claim: an earlier holder or a wrong token is refused. */
export function assertToken(
  { claim, task }: PlannedTask,
  credentials: {
    readonly token: string | null
    /** The task that the token belongs to; null for an unknown token. */
    readonly taskOfToken: TaskId | null
    readonly claimant: Claimant
  },
  { at: now, ids }: TransactionContext,
): void {
  const { token, taskOfToken, claimant } = credentials
  if (token === null) return
  const isRunning = claim !== null && isHeld(claim, now)
  if (isRunning && claim.tokenHash === ids.hash(token)) return
  if (taskOfToken !== task.id) {
    const ownerText = taskOfToken === null ? 'No claim has this token' : `It belongs to task ${taskOfToken}`
    throw new Failure('CONFLICT', `${token} is not a claim token of task ${task.id}. ${ownerText}.`, {
      reason: 'claim_token_unknown',
      hint: hintOf`Omit claim_token if the claim is yours, or claim the task with ${callTo('taskman_task_next', { claim: true })}.`,
    })
  }
  if (isRunning && isOwnClaim(claim, claimant)) return
  const since = isRunning ? ` ${claim.agent} has claimed the task since.` : ''
  throw new Failure('CONFLICT', `The claim ${token} on task ${task.id} has ended.${since}`, {
    reason: 'claim_ended',
    hint: hintOf`Claim it again with ${callTo('taskman_task_next', { claim: true })}, or start another task.`,
  })
}
