import type { MilestoneId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { OpenTask } from '../../track/domain/completion.ts'
import type { Phase } from '../../track/domain/mission.ts'
import type { Milestone, Note, PlannedTask, PlanOwner, PlanSpan, TaskStatus } from '../domain/plan.ts'
import type { TaskMark } from '../domain/readiness.ts'

export interface PlanFilter {
  /** Phases and tasks of a mission, of the project's own plan, or of all open plans. Absent: everything. */
  readonly owner?: PlanSpan
  readonly phaseId?: PhaseId
  readonly milestoneId?: MilestoneId
  /** An expired claim does not keep a task in progress. */
  readonly status?: TaskStatus
  /** Of the done tasks only those that were dropped, or only the others. */
  readonly dropped?: boolean
  readonly role?: string
  /** To do, unclaimed, with all dependencies done and settled. */
  readonly ready?: boolean
  readonly blocked?: boolean
  /** Tasks without open dependencies. */
  readonly unblocked?: boolean
  /** Without a role. */
  readonly unassigned?: boolean
  /** All words must be in title or description, ignoring case. */
  readonly search?: string
  /** Claims that expired before this time no longer hold a task. */
  readonly now: number
}

export interface PlanRequest {
  readonly limit: number
  /** Continues after a task. */
  readonly after?: TaskId
  /** Count no further than this. */
  readonly countTo?: number
}

export interface PlanPage {
  readonly tasks: readonly PlannedTask[]
  readonly total: number
  /** There are more than `total`. */
  readonly isMore?: true
}

/** A task with the fields for graphs. */
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
  /** To do again: its last attempt failed. */
  readonly hasFailed: boolean
  /** Done, but its dependents wait for a person. */
  readonly unsettled: boolean
  readonly held: boolean
  readonly sortOrder: number | null
  readonly seq: number
  readonly missionId: MissionId | null
  readonly dependsOn: readonly TaskId[]
}

/** A task that another one is linked to. */
export interface PlanLink {
  readonly link: 'depends_on' | 'blocks' | 'subtask' | 'parent'
  readonly id: TaskId
  readonly name: string
  readonly mark: TaskMark
  readonly hasFailed: boolean
}

/** The tasks of a phase, or those of a plan without a phase. */
export type PlannedHome =
  | { readonly phaseId: PhaseId }
  | { readonly phaseId: null; readonly missionId: PlanOwner }

/** The tasks of a phase, or of a plan outside any phase, without dropped ones. */
export interface OutlineCount {
  readonly missionId: MissionId | null
  readonly phaseId: PhaseId | null
  readonly total: number
  readonly done: number
  readonly dropped: number
}

/** A task with its state in the plan. */
export interface TaskStateRow extends GraphTaskRow {
  readonly mark: TaskMark
  readonly waitsFor: readonly TaskId[]
}

/** A task in the order of its home. */
export interface OrderedTask {
  readonly id: TaskId
  readonly sortOrder: number | null
}

export type NamedTask = Pick<GraphTaskRow, 'id' | 'name' | 'status' | 'dropped'>

export interface PlanReads {
  /** The project's own first, then by mission; by sort order, then number or creation; at most 1000. */
  phases(owner: PlanSpan): Promise<readonly Phase[]>
  phase(id: string): Promise<Phase | null>
  phasesWithIds(ids: readonly string[]): Promise<readonly Phase[]>
  /** Ids with one of these prefixes, at most 1000. */
  phaseIdsLike(prefixes: readonly string[]): Promise<readonly string[]>
  /** In the order of their phases, then creation; at most 1000. */
  milestones(filter: { readonly owner?: PlanSpan; readonly phaseId?: PhaseId }): Promise<readonly Milestone[]>
  milestone(id: string): Promise<Milestone | null>
  task(id: string): Promise<PlannedTask | null>
  /** The existing ones of these tasks. */
  tasksWithIds(ids: readonly string[]): Promise<readonly PlannedTask[]>
  /** By the phase's order, then sort order, then creation. */
  tasks(filter: PlanFilter, request: PlanRequest): Promise<PlanPage>
  /** How many tasks of a phase are not done. */
  undoneInPhase(phaseId: PhaseId): Promise<number>
  /** The open tasks of a phase: those in progress first, then in list order; at most 40. */
  openInPhase(phaseId: PhaseId): Promise<readonly OpenTask[]>
  /**
   * The ready task with the longest chain of unfinished dependents, then in list order. Work that was sent back comes
   * before it, tasks that failed after it.
   */
  next(filter: {
    readonly owner?: PlanSpan
    readonly role?: string
    /** Without a role. */
    readonly roleless?: boolean
    /** The caller's name and role: tasks of other assignees are left out. Absent: tasks for anyone. */
    readonly assignees?: readonly string[]
    readonly now: number
  }): Promise<PlannedTask | null>
  dependsOn(taskId: TaskId, dependency: TaskId): Promise<boolean>
  /** The chain of dependencies from one task to another, both included; null if there is none. */
  chain(from: TaskId, to: TaskId): Promise<readonly TaskId[] | null>
  /** The task of a claim token, running or ended. */
  taskOfToken(token: string): Promise<TaskId | null>
  /** Tasks whose claim expired at or before a time, at most 100. */
  expiredClaims(now: number): Promise<readonly PlannedTask[]>
  notes(taskId: TaskId, request: PageRequest): Promise<Page<Note>>
  /** The existing ones of these ids, oldest first. */
  notesWithIds(ids: readonly string[]): Promise<readonly Note[]>
  /** Of the newest tasks of all plans those with every word in their name or goal, or at the beginning of their id. */
  newest(request: {
    readonly limit: number
    readonly words: readonly string[]
    readonly now: number
  }): Promise<readonly NamedTask[]>
  /** Every task of a plan, for diagrams and export, at most `limit`, in list order. */
  graph(owner: PlanSpan, limit: number, now: number): Promise<readonly GraphTaskRow[]>
  /** Tasks of other plans with a dependency to or from this one. */
  neighbors(
    owner: PlanSpan,
    limit: number,
    now: number,
  ): Promise<readonly (GraphTaskRow & { readonly mark: TaskMark })[]>
  /** The existing ones of these tasks, in list order. */
  graphOf(ids: readonly TaskId[], now: number): Promise<readonly GraphTaskRow[]>
  /** Other tasks with a dependency to or from these. */
  neighborsOf(
    ids: readonly TaskId[],
    limit: number,
    now: number,
  ): Promise<readonly (GraphTaskRow & { readonly mark: TaskMark })[]>
  /** Read without the tasks, so that a plan may be of any size. */
  outlineCounts(span: PlanSpan): Promise<readonly OutlineCount[]>
  /** The tasks of a home in list order, after a task. */
  outlineTasks(
    home: PlannedHome,
    request: { readonly after: TaskId | null; readonly limit: number; readonly now: number },
  ): Promise<readonly TaskStateRow[]>
  /** The start of the longest chain of unfinished tasks, in working order. */
  longestChain(span: PlanSpan, limit: number): Promise<readonly TaskId[]>
  /** The tasks that a task is linked to, in list order, at most 1000. */
  links(taskId: TaskId, now: number): Promise<readonly PlanLink[]>
  /** The tasks of a home in list order; with `before` only the nearest ones before that task, nearest first. */
  siblings(
    home: PlannedHome,
    nearest?: { readonly before: TaskId | null; readonly limit: number },
  ): Promise<readonly OrderedTask[]>
  /** The roles that the project declared, in order of declaration. */
  roles(): Promise<readonly string[]>
}
