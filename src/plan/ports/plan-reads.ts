import type { MilestoneId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { OpenTask } from '../../track/domain/completion.ts'
import type { Phase } from '../../track/domain/mission.ts'
import type { Milestone, Note, PlannedTask, PlanSpan, TaskStatus } from '../domain/plan.ts'

export interface PlanFilter {
  /** Phases and tasks of a mission, of the project's own plan, or of both that are open. Absent: everything. */
  readonly owner?: PlanSpan
  readonly phaseId?: PhaseId
  readonly milestoneId?: MilestoneId
  /** A claim that expired does not keep a task in progress. */
  readonly status?: TaskStatus
  readonly role?: string
  /** To do, not held, every dependency done and settled. */
  readonly ready?: boolean
  readonly blocked?: boolean
  /** Everything that waits for nothing. */
  readonly unblocked?: boolean
  /** Without a role. */
  readonly unassigned?: boolean
  /** Words that are all in title or description, case-insensitive. */
  readonly search?: string
  /** Claims that expired before it do not hold a task any more. */
  readonly now: number
}

export interface PlanPage {
  readonly tasks: readonly PlannedTask[]
  readonly total: number
}

/** A task with as little as graphs need. */
export interface GraphTaskRow {
  readonly id: TaskId
  readonly name: string
  readonly phaseId: PhaseId | null
  readonly milestoneId: MilestoneId | null
  readonly parentTaskId: TaskId | null
  readonly role: string | null
  readonly assignee: string | null
  readonly status: TaskStatus
  readonly dropped: boolean
  /** Done, and what depends on it waits for a person. */
  readonly unsettled: boolean
  readonly held: boolean
  readonly sortOrder: number | null
  readonly seq: number
  readonly missionId: MissionId | null
  readonly dependsOn: readonly TaskId[]
}

export interface PlanReads {
  /** The project's own first, then mission by mission; by sort order, then number or creation; at most 1000. */
  phases(owner: PlanSpan): Promise<readonly Phase[]>
  phase(id: string): Promise<Phase | null>
  phasesWithIds(ids: readonly string[]): Promise<readonly Phase[]>
  /** Those that begin with one of these, at most 1000. */
  phaseIdsLike(prefixes: readonly string[]): Promise<readonly string[]>
  /** In the order of their phases, then creation; at most 1000. */
  milestones(filter: { readonly owner?: PlanSpan; readonly phaseId?: PhaseId }): Promise<readonly Milestone[]>
  milestone(id: string): Promise<Milestone | null>
  task(id: string): Promise<PlannedTask | null>
  /** Those of these tasks that exist. */
  tasksWithIds(ids: readonly string[]): Promise<readonly PlannedTask[]>
  /** By the phase's order, then sort order, then creation; `after` continues behind a task. */
  tasks(filter: PlanFilter, request: { readonly limit: number; readonly after?: TaskId }): Promise<PlanPage>
  /** How many tasks of a phase are not done. */
  undoneInPhase(phaseId: PhaseId): Promise<number>
  /** The tasks of a phase that are not done: those in progress first, then in list order; at most 40. */
  openInPhase(phaseId: PhaseId): Promise<readonly OpenTask[]>
  /** The ready task with the longest chain of unfinished dependents, then in list order. */
  next(filter: {
    readonly owner?: PlanSpan
    readonly role?: string
    /** Without a role. */
    readonly roleless?: boolean
    /** The caller's name and role: what is assigned to another is left out. Absent: for anyone. */
    readonly assignees?: readonly string[]
    readonly now: number
  }): Promise<PlannedTask | null>
  dependsOn(taskId: TaskId, dependency: TaskId): Promise<boolean>
  /** The chain of dependencies that leads from one task to another, both included; null when there is none. */
  chain(from: TaskId, to: TaskId): Promise<readonly TaskId[] | null>
  /** The task that a claim with this token was of, running or ended. */
  taskOfToken(token: string): Promise<TaskId | null>
  /** Tasks whose claim expired at or before a time, at most 100. */
  expiredClaims(now: number): Promise<readonly PlannedTask[]>
  notes(taskId: TaskId, request: PageRequest): Promise<Page<Note>>
  /** Those of these ids that exist, oldest first. */
  notesWithIds(ids: readonly string[]): Promise<readonly Note[]>
  /** Every task of a plan, for diagrams and export, at most `limit`, in list order. */
  graph(owner: PlanSpan | undefined, limit: number, now: number): Promise<readonly GraphTaskRow[]>
  /** Tasks outside a plan that one of its tasks depends on, or that depend on one. */
  neighbors(
    owner: PlanSpan,
    limit: number,
    now: number,
  ): Promise<readonly (GraphTaskRow & { readonly ready: boolean })[]>
  /** The roles that the project declared, in order of declaration. */
  roles(): Promise<readonly string[]>
}
