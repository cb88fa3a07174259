import type { Actor } from '../actor.ts'
import type { AttemptId, MilestoneId, MissionId, PhaseId, TaskId } from '../id.ts'
import type { SnapshotPlace } from './snapshot.ts'

export const taskOutcomes = ['success', 'partial_success', 'failed'] as const
export type TaskOutcome = (typeof taskOutcomes)[number]

export const callerTypes = ['orchestrator', 'subagent'] as const
export type CallerType = (typeof callerTypes)[number]

/** How a done task came to be done. `claimed` is somebody's word, without an attempt that was witnessed. */
export type Resolution = 'success' | 'partial_success' | 'claimed' | 'dropped'

export interface Task {
  readonly id: TaskId
  readonly missionId: MissionId | null
  readonly phaseId: PhaseId | null
  readonly milestoneId: MilestoneId | null
  readonly parentTaskId: TaskId | null
  readonly name: string
  readonly goal: string | null
  /** The step's label in a v1 workflow's plan. */
  readonly step: string | null
  readonly role: string | null
  /** The agent, or the role, that it is for; early facts have none. */
  readonly assignee?: string | null
  readonly areas: readonly string[]
  readonly status: 'to_do' | 'in_progress' | 'done'
  readonly resolution: Resolution | null
  /** The place that people gave it in its phase; tasks without one follow, in order of creation. */
  readonly sortOrder: number | null
  readonly creator: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

export type AttemptStatus = 'open' | TaskOutcome | 'abandoned'

/** One try at a task: who, where, from which snapshot, and how it ended. */
export interface Attempt {
  readonly id: AttemptId
  readonly taskId: TaskId
  readonly missionId: MissionId | null
  readonly phaseId: PhaseId | null
  /** 1 for the first try at the task. */
  readonly number: number
  readonly agentName: string | null
  readonly callerType: CallerType | null
  readonly actor: Actor
  readonly areas: readonly string[]
  readonly status: AttemptStatus
  readonly snapshot: SnapshotPlace
  readonly endSnapshot: SnapshotPlace | null
  readonly openedAt: number
  /** The last call about it, milliseconds since the epoch: an attempt silent for two hours is stale. */
  readonly lastCallAt: number
  readonly closedAt: number | null
}

/** Two hours without a call, in milliseconds. */
export const staleAfter = 2 * 60 * 60 * 1000

export function isStale(attempt: Attempt, now: number): boolean {
  return attempt.status === 'open' && now - attempt.lastCallAt >= staleAfter
}

/** Whether a caller is the one who opened an attempt: the same agent by name, or, where it gives none, the same connection. */
export function opened(attempt: Attempt, actor: Actor, agentName: string | null): boolean {
  const isSameConnection = actor.connection !== undefined && attempt.actor.connection === actor.connection
  if (agentName === null && isSameConnection) return true
  if (attempt.actor.name !== actor.name || attempt.agentName !== agentName) return false
  return agentName !== null || attempt.actor.connection === actor.connection
}
