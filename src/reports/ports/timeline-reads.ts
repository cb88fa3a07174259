import type { AttemptId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { ListPart } from '../../kernel/page.ts'
import type { ChangeKind } from '../../track/domain/changes.ts'
import type { AttemptStatus, Resolution } from '../../track/domain/task.ts'
import type { FileChangeCounts } from '../../track/ports/attempt-reads.ts'

/** A task as a timeline shows it: what it is called, where it belongs, how it stands. */
export interface TimelineTask {
  readonly id: TaskId
  readonly name: string
  /** Its home in the mission, else where it was last worked on there. */
  readonly phaseId: PhaseId | null
  readonly parentTaskId: TaskId | null
  readonly status: 'ready' | 'blocked' | 'in_progress' | 'done'
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
  readonly counts: FileChangeCounts | null
  readonly scopeMatches: boolean | null
  readonly measurement: 'exact' | 'partial' | 'unknown' | null
}

/** What an attempt changed, in lines; lines that could not be counted are left out. */
export interface ChangedLines {
  /** Null where none could be counted. */
  readonly added: number | null
  readonly deleted: number | null
  readonly outOfScope: number
}

/** What became of a path in a mission, from the state at its first attempt to the state at its last end. */
export interface MissionFile {
  readonly path: string
  readonly change: ChangeKind
  /** Out when one attempt found it so; null when none declared areas. */
  readonly scope: 'in' | 'out' | null
  /** Null where they could not be counted. */
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** Someone outside the mission wrote there too. */
  readonly others: boolean
  readonly attempts: number
  /** The last task that changed it; null where only its new name is not of an attempt. */
  readonly taskId: TaskId | null
}

export interface TimelineReads {
  /** The tasks of a mission, in the order of its plan. */
  tasks(missionId: MissionId, limit: number): Promise<readonly TimelineTask[]>
  /** The last attempts in a mission, oldest first. */
  attempts(missionId: MissionId, limit: number): Promise<readonly TimelineAttempt[]>
  /** Of the same attempts; one that changed nothing is not among them. */
  lines(missionId: MissionId, limit: number): Promise<ReadonlyMap<AttemptId, ChangedLines>>
  /** The files that attempts in a mission changed, out of scope first, then by path. */
  files(missionId: MissionId, part: ListPart): Promise<readonly MissionFile[]>
  /** How many attempts there are in all. */
  attemptsTotal(missionId: MissionId): Promise<number>
}
