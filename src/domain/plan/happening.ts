import type { MilestoneId, MissionId, PhaseId, TaskId } from '../id.ts'
import type { PhaseStatus } from '../track/mission.ts'
import type { Claim, Milestone, Note } from './plan.ts'

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
  readonly creator?: string
  readonly milestoneId?: MilestoneId | null
  readonly phaseId?: PhaseId
  readonly sortOrder?: number | null
}

/** What can happen to a plan. `missionId` is the mission whose plan it is, null for the project's own. */
export type PlanHappening =
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
  /** Done without an attempt: somebody's word. Or not done after all. */
  | { readonly kind: 'task.marked'; readonly taskId: TaskId; readonly as: 'done' | 'to_do' }
  /** Given up for good: what depends on it need not wait. */
  | { readonly kind: 'task.dropped'; readonly taskId: TaskId; readonly reason: string }
  /** Begun although a dependency is open. */
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
  /** A role that this project uses besides the known ones. */
  | { readonly kind: 'role.declared'; readonly role: string }
