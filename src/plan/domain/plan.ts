import type { MilestoneId, MissionId, NoteId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { PhaseStatus } from '../../track/domain/mission.ts'
import type { Task } from '../../track/domain/task.ts'
import type { DoneWhen } from './done-when.ts'

/** A goal with a criterion, in a phase. */
export interface Milestone {
  readonly id: MilestoneId
  readonly phaseId: PhaseId
  readonly name: string | null
  readonly criterion: string | null
  readonly reached: boolean
  readonly createdAt: number
}

/** A note about a task, which is neither a decision nor an issue. */
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

/** The holder of a task before its attempt. Its token invalidates those of earlier holders. */
export interface Claim {
  readonly agent: string
  /** The connection's actor and, on a second line, the agent's token or the person's identity, if it has one. */
  readonly actor: string
  /** The connection of the claim, whose calls need no token. Absent for a caller without one. */
  readonly connection?: string
  /** The token itself was only returned to the claimant. */
  readonly tokenHash: string
  readonly claimedAt: number
  /** Renewed by every call about the task, in milliseconds. Null while an open attempt holds the claim. */
  readonly expiresAt: number | null
}

/** A task as the plan sees it. */
export interface PlannedTask {
  readonly task: Task
  readonly dependsOn: readonly TaskId[]
  /** Done, but an inbox item about it blocks its dependents. */
  readonly unsettled: boolean
  /** Whether it is open and depends on a task that is not done or not settled. */
  readonly blocked: boolean
  readonly claim: Claim | null
}

/** The owner of a phase or task: a mission, or the project's own plan. */
export type PlanOwner = MissionId | null

/** The plans to read: one, or `open` for the project's own and those of open missions. */
export type PlanSpan = PlanOwner | 'open'

export const taskStatuses = ['to_do', 'in_progress', 'done'] as const
export type TaskStatus = (typeof taskStatuses)[number]

/** taskman's roles: its first six, then eight later ones. A project may declare more. */
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

const phaseWords = {
  pending: 'to_do',
  in_progress: 'in_progress',
  completed: 'done',
  failed: 'done',
} as const satisfies Record<PhaseStatus, TaskStatus>

const phaseStatuses = {
  to_do: 'pending',
  in_progress: 'in_progress',
  done: 'completed',
} as const satisfies Record<TaskStatus, PhaseStatus>

/** A phase's status in taskman's words, and back. */
export function phaseWord(status: PhaseStatus): TaskStatus {
  return phaseWords[status]
}

export function phaseStatus(word: TaskStatus): PhaseStatus {
  return phaseStatuses[word]
}

export interface PhaseChanges {
  readonly name?: string
  readonly status?: PhaseStatus
  readonly sortOrder?: number | null
}

export interface MilestoneChanges {
  readonly name?: string | null
  readonly criterion?: string | null
  readonly reached?: boolean
  /** Moving a milestone moves its open tasks. */
  readonly phaseId?: PhaseId
}

export interface TaskChanges {
  readonly name?: string
  readonly goal?: string | null
  readonly role?: string | null
  readonly assignee?: string | null
  readonly areas?: readonly string[]
  readonly creator?: string
  readonly milestoneId?: MilestoneId | null
  readonly phaseId?: PhaseId
  readonly parentTaskId?: TaskId
  readonly sortOrder?: number | null
  readonly doneWhen?: DoneWhen | null
}

/** The events of a plan. `missionId` is its mission, null for the project's own plan. */
export type NewPlanEvent =
  | {
      readonly kind: 'phase.edited'
      readonly phaseId: PhaseId
      readonly missionId: MissionId | null
      readonly changes: PhaseChanges
    }
  | { readonly kind: 'milestone.created'; readonly milestone: Milestone }
  | {
      readonly kind: 'milestone.edited'
      readonly milestoneId: MilestoneId
      readonly changes: MilestoneChanges
    }
  | { readonly kind: 'task.edited'; readonly taskId: TaskId; readonly changes: TaskChanges }
  /** Marked done without an attempt, or not done again. */
  | { readonly kind: 'task.marked'; readonly taskId: TaskId; readonly status: 'done' | 'to_do' }
  /** Dropped: its dependents need not wait for it. */
  | { readonly kind: 'task.dropped'; readonly taskId: TaskId; readonly reason: string }
  /** Started although a dependency is open. */
  | { readonly kind: 'task.forced'; readonly taskId: TaskId; readonly open: readonly TaskId[] }
  | { readonly kind: 'task.claimed'; readonly taskId: TaskId; readonly claim: Claim }
  | {
      readonly kind: 'claim.ended'
      readonly taskId: TaskId
      readonly agent: string
      readonly why: 'released' | 'expired'
    }
  | { readonly kind: 'dependency.added'; readonly taskId: TaskId; readonly dependsOnId: TaskId }
  | { readonly kind: 'dependency.removed'; readonly taskId: TaskId; readonly dependsOnId: TaskId }
  | { readonly kind: 'note.added'; readonly note: Note }
  /** An additional role that this project uses. */
  | { readonly kind: 'role.declared'; readonly role: string }
