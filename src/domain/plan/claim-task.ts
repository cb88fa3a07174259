import type { Actor } from '../actor.ts'
import { Failure } from '../failure.ts'
import type { Setting } from '../id.ts'
import { instant } from '../instant.ts'
import type { PlanHappening } from './happening.ts'
import { type Claim, claimLasts, isHeld, type PlannedTask } from './plan.ts'

/** Who asks for a task: the connection's actor, and what the agent calls itself. */
export interface Claimant {
  readonly actor: Actor
  readonly agentName: string | null
}

/** Makes a task somebody's, for thirty minutes. The caller has seen, under the lock, that nobody else holds it. */
export function claimTask(
  { task, claim }: PlannedTask,
  claimant: Claimant,
  setting: Setting,
): { readonly claim: Claim; readonly happenings: readonly PlanHappening[] } {
  const made: Claim = {
    agent: nameOf(claimant),
    actor: identityOf(claimant),
    token: setting.ids.next('claim'),
    claimedAt: setting.at,
    expiresAt: setting.at + claimLasts,
  }
  const before = claim === null ? [] : endClaim(task.id, claim, 'expired')
  return { claim: made, happenings: [...before, { kind: 'task.claimed', taskId: task.id, claim: made }] }
}

export function endClaim(
  taskId: PlannedTask['task']['id'],
  claim: Claim,
  why: 'released' | 'expired',
): readonly PlanHappening[] {
  return [{ kind: 'claim.ended', taskId, agent: claim.agent, why }]
}

/** Whether the claimant holds the claim itself. */
function isOwn(claim: Claim, claimant: Claimant): boolean {
  return claim.actor === identityOf(claimant) && claim.agent === nameOf(claimant)
}

/** Unnamed agents of one client are told apart by their connections. */
function identityOf({ actor, agentName }: Claimant): string {
  return agentName === null ? (actor.connection ?? actor.name) : actor.name
}

/** Refuses whoever does not hold a task that is held. */
export function assertFree(planned: PlannedTask, claimant: Claimant, now: number): void {
  const { claim, task } = planned
  if (claim === null || !isHeld(claim, now) || isOwn(claim, claimant)) return
  const until = claim.expiresAt === null ? '' : `, until ${instant(claim.expiresAt)}`
  throw new Failure('CONFLICT', `Task ${task.id} is held by ${claim.agent}${until}.`, {
    hint: 'Take another one with taskman_task_next, or wait until it is free.',
  })
}

/** A token must be that of the running claim: whoever held the task earlier is fenced off. */
export function assertToken({ claim, task }: PlannedTask, token: string | null, now: number): void {
  if (token === null) return
  if (claim !== null && claim.token === token && isHeld(claim, now)) return
  throw new Failure('CONFLICT', `The claim ${token} on task ${task.id} does not hold any more.`, {
    hint: 'Claim it again with taskman_task_next { claim: true }, or take another task.',
  })
}

export function nameOf({ actor, agentName }: Claimant): string {
  return agentName ?? actor.name
}
