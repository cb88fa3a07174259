import type { AttemptId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { ListPart } from '../../kernel/page.ts'
import type { ChangeKind } from '../../track/domain/changes.ts'
import type { AttemptStatus, Resolution } from '../../track/domain/task.ts'
import type { VerdictValue } from '../../track/domain/verdict.ts'
import type { FileChangeCounts } from '../../track/ports/attempt-reads.ts'

/** A task for a timeline: its name, phase and status. */
export interface TimelineTask {
  readonly id: TaskId
  readonly name: string
  /** Its home phase in the mission, else where it was last worked on there. */
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
  readonly verdict: VerdictValue | null
}

/** The line counts of an attempt; uncountable lines are left out. */
export interface ChangedLines {
  /** Null if none could be counted. */
  readonly added: number | null
  readonly deleted: number | null
  readonly outOfScope: number
  /** Of these, the files that a person approved. */
  readonly outOfScopeAccepted: number
}

/** The net change of a path in a mission, from its first attempt to its last end. */
export interface MissionFile {
  readonly path: string
  readonly change: ChangeKind
  /** Out of scope if any attempt judged it so; null if none declared areas. */
  readonly scope: 'in' | 'out' | null
  /** Null where they could not be counted. */
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** Someone outside the mission changed it too. */
  readonly others: boolean
  readonly attempts: number
  /** The last task that changed it; null if no attempt changed it under its new name. */
  readonly taskId: TaskId | null
}

export interface TimelineReads {
  /** The tasks of a mission, in the order of its plan. */
  tasks(missionId: MissionId, limit: number): Promise<readonly TimelineTask[]>
  /** The last attempts in a mission, oldest first. */
  attempts(missionId: MissionId, limit: number): Promise<readonly TimelineAttempt[]>
  /** For the same attempts; those without changes are left out. */
  lines(missionId: MissionId, limit: number): Promise<ReadonlyMap<AttemptId, ChangedLines>>
  /** The files that attempts in a mission changed, out of scope first, then by path. */
  files(missionId: MissionId, part: ListPart): Promise<readonly MissionFile[]>
  /** How many attempts there are in all. */
  attemptsTotal(missionId: MissionId): Promise<number>
}
