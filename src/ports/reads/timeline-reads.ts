import type { AttemptId, MissionId, PhaseId, TaskId } from '../../domain/id.ts'
import type { AttemptStatus, Resolution } from '../../domain/track/task.ts'
import type { ChangeCounts } from './task-reads.ts'

/** A task as a timeline shows it: what it is called, where it belongs, how it stands. */
export interface TimelineTask {
  readonly id: TaskId
  readonly name: string
  /** Its home in the mission, else where it was last worked on there. */
  readonly phaseId: PhaseId | null
  readonly parentTaskId: TaskId | null
  readonly standing: 'ready' | 'blocked' | 'in_progress' | 'done'
  readonly resolution: Resolution | null
}

export interface TimelineAttempt {
  readonly id: AttemptId
  readonly taskId: TaskId
  readonly number: number
  readonly agentName: string | null
  readonly status: AttemptStatus
  readonly openedAt: number
  readonly closedAt: number | null
  /** Null until the attempt was measured. */
  readonly counts: ChangeCounts | null
  readonly scopeMatches: boolean | null
  readonly verification: 'verified' | 'partial' | 'unknown' | null
}

/** What an attempt changed, in lines; lines that could not be counted are left out. */
export interface ChangedLines {
  readonly added: number
  readonly deleted: number
  readonly outOfScope: number
}

export interface TimelineReads {
  /** The tasks of a mission, in the order of its plan. */
  tasks(missionId: MissionId, limit: number): Promise<readonly TimelineTask[]>
  /** The last attempts in a mission, oldest first. */
  attempts(missionId: MissionId, limit: number): Promise<readonly TimelineAttempt[]>
  /** Of the same attempts; one that changed nothing is not among them. */
  lines(missionId: MissionId, limit: number): Promise<ReadonlyMap<AttemptId, ChangedLines>>
  /** How many attempts there are in all. */
  attemptsTotal(missionId: MissionId): Promise<number>
}
