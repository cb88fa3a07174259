import type { Evidence } from '../../domain/fact.ts'
import type { ProcessDefinition } from '../../domain/gate/definition.ts'
import type { Visit } from '../../domain/gate/evidence.ts'
import type { EmissionRepeat, SettingName } from '../../domain/gate/happening.ts'
import type {
  CommandResult,
  KeptArtifact,
  RunApproval,
  RunEvent,
  RunRecord,
  RunRefusal,
  RunStatus,
} from '../../domain/gate/run-record.ts'
import type { AttemptId, MissionId, RunId, TaskId } from '../../domain/id.ts'
import type { ReportedChange } from '../../domain/track/evidence.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Page, PageRequest } from './page.ts'

export interface RunFilter {
  readonly status?: RunStatus
  readonly missionId?: MissionId
  readonly taskId?: TaskId
  readonly processId?: string
}

export interface RunSubject {
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
}

export interface AttemptChanges {
  readonly attemptId: AttemptId
  readonly verification: Evidence['verification'] | null
  readonly changes: readonly ChangedFile[]
}

/** `scope` null: no areas were declared. */
export type ChangedFile = Pick<ReportedChange, 'path' | 'from' | 'scope'>

/** A run with all that its engine looks at. */
export interface LoadedRun {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
  readonly visits: readonly Visit[]
  readonly artifacts: readonly KeptArtifact[]
}

export interface RunReads {
  find(id: string): Promise<RunRecord | null>
  /** A fixed number of queries, however long the run is. The definition is parsed once per process and hash. */
  load(id: string): Promise<LoadedRun | null>
  /** Newest first. */
  list(filter: RunFilter, request: PageRequest): Promise<Page<RunRecord>>
  /** Active runs of a mission, and of the tasks at home there or worked on there, at most 100. */
  gating(missionId: MissionId): Promise<readonly RunRecord[]>
  /**
   * Runs of the same that ended failed or cancelled, without a later run of the same definition and subject that
   * succeeded; those of dropped tasks left out. Oldest first, at most 100.
   */
  lost(missionId: MissionId): Promise<readonly RunRecord[]>
  definition(hash: string): Promise<ProcessDefinition | null>
  /** What moved a run, newest first. */
  history(runId: RunId, request: PageRequest): Promise<Page<RunEvent>>
  /** What gave a run this revision; null for the first. */
  eventAt(runId: RunId, revision: number): Promise<RunEvent | null>
  refusals(runId: RunId, request: PageRequest): Promise<Page<RunRefusal>>
  /** How often this event was refused with this code since the run came to this revision's state; with the same tried. */
  refusalsAlike(
    runId: RunId,
    refused: {
      readonly event: string
      readonly code: string
      readonly since: number
      readonly tried?: RunRefusal['tried']
    },
  ): Promise<number>
  /** What the owner's key is bound to in a run; null when it is free, whoever else has the same. */
  repeat(runId: RunId, key: Required<Pick<EmissionRepeat, 'key' | 'owner'>>): Promise<EmissionRepeat | null>
  /** Oldest first, at most 1000. */
  approvals(runId: RunId): Promise<readonly RunApproval[]>
  /** The last result of a command line in a folder on a tree, or on any tree. */
  commandResult(command: Pick<CommandResult, 'run' | 'folder'>, tree?: string): Promise<CommandResult | null>
  runningCommands(): Promise<readonly CommandResult[]>
  /** The attempts at a task, or in a mission, first to last, at most 1000. */
  attemptsOf(subject: RunSubject): Promise<readonly Attempt[]>
  /**
   * The measured changes of closed attempts, at most 20,000, all `unknown` when there are more; `verification` null
   * while an attempt has no end.
   */
  changesOf(attemptIds: readonly AttemptId[]): Promise<readonly AttemptChanges[]>
  /** What the project set, by name; what is not there has its default. */
  settings(): Promise<ReadonlyMap<SettingName, string>>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}
