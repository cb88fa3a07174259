import type { MilestoneId, MissionId, NoteId, PhaseId, TaskId } from '../id.ts'
import type { Task } from '../track/task.ts'

/** A goal with a criterion, in a phase. */
export interface Milestone {
  readonly id: MilestoneId
  readonly phaseId: PhaseId
  readonly name: string | null
  readonly criterion: string | null
  readonly reached: boolean
  readonly createdAt: number
}

/** Something said about a task that is neither a decision nor an issue. */
export interface Note {
  readonly id: NoteId
  readonly taskId: TaskId
  readonly content: string
  readonly kind: NoteKind | null
  readonly role: string | null
  readonly author: string
  readonly createdAt: number
}

export const noteKinds = ['completion', 'progress', 'issue'] as const
export type NoteKind = (typeof noteKinds)[number]

/** Who holds a task before an attempt at it begins. The token fences off whoever held it earlier. */
export interface Claim {
  readonly agent: string
  /** The connection's actor. */
  readonly actor: string
  /** The connection that claimed it: what comes by it needs no token. Absent in records from before it was kept. */
  readonly connection?: string
  readonly token: string
  readonly claimedAt: number
  /** Milliseconds since the epoch; renewed by every call about the task. Null while an open attempt holds the claim. */
  readonly expiresAt: number | null
}

/** Thirty minutes, in milliseconds. */
export const claimLasts = 30 * 60 * 1000

/** A task as the plan sees it. */
export interface PlannedTask {
  readonly task: Task
  readonly dependsOn: readonly TaskId[]
  /** Done, and something about it waits for a person that holds up what depends on it. */
  readonly unsettled: boolean
  /** Whether it is not done, and a dependency is not done either or not settled. */
  readonly blocked: boolean
  readonly claim: Claim | null
}

/** What a phase or task belongs to: a mission, or the project's own plan. */
export type PlanOwner = MissionId | null

/** What a reader looks at: one plan, or `open`: the project's own and those of the missions that have not ended. */
export type PlanSpan = PlanOwner | 'open'

export const taskStatuses = ['to_do', 'in_progress', 'done'] as const
export type TaskStatus = (typeof taskStatuses)[number]

/** taskman's roles: its first six, then the eight that came later. A project may declare its own. */
export const knownRoles = [
  'project-manager',
  'project-designer',
  'software-architect',
  'developer',
  'summary-writer',
  'documentation-writer',
  'art-director',
  'ui-designer',
  'community-manager',
  'ux-designer',
  'qa-engineer',
  'devops-engineer',
  'product-owner',
  'security-engineer',
] as const

export function isHeld(claim: Claim | null, now: number): boolean {
  return claim !== null && (claim.expiresAt === null || claim.expiresAt > now)
}
