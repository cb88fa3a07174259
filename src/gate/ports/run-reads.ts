import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import type { Actor } from '../../kernel/actor.ts'
import type { AttemptId, CommandResultId, MissionId, PhaseId, RunId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { ReportedChange } from '../../track/domain/changes.ts'
import type { Attempt } from '../../track/domain/task.ts'
import type { ProcessDefinition } from '../domain/definition.ts'
import type { Visit } from '../domain/evidence.ts'
import type {
  CommandResult,
  RunApproval,
  RunEvent,
  RunRecord,
  RunRefusal,
  RunStatus,
  SettingName,
  StoredArtifact,
} from '../domain/run.ts'

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

/** More attempts at one subject than this are not read. */
export const maxAttempts = 1_000

export interface AttemptChanges extends Pick<AttemptMeasurement, 'unreadable'> {
  readonly attemptId: AttemptId
  readonly measurement: AttemptMeasurement['measurement'] | null
  readonly changes: readonly (ScopedPath & Pick<ReportedChange, 'origin'>)[]
}

/** `scope` null: no areas were declared. */
export type ScopedPath = Pick<ReportedChange, 'path' | 'from' | 'scope'>

/** A run with all that its engine looks at. */
export interface LoadedRun {
  readonly record: RunRecord
  readonly definition: ProcessDefinition
  readonly visits: readonly Visit[]
  readonly artifacts: readonly StoredArtifact[]
}

/** A subject whose end runs can block: a mission, or a phase of a plan without a mission. */
export type GatedSubject = { readonly missionId: MissionId } | { readonly phaseId: PhaseId }

export interface RunReads {
  find(id: string): Promise<RunRecord | null>
  /** A fixed number of queries, however long the run is. The definition is parsed once per process and hash. */
  load(id: string): Promise<LoadedRun | null>
  /** Newest first. */
  list(filter: RunFilter, request: PageRequest): Promise<Page<RunRecord>>
  /** Active runs of a mission, and of the tasks at home there or worked on there; or of the tasks of a phase. At most 100. */
  gating(subject: GatedSubject): Promise<readonly RunRecord[]>
  /**
   * Runs of the same that ended failed or cancelled, without a later run of the same definition and subject that
   * succeeded; those of dropped tasks left out. Oldest first, at most 100.
   */
  lostRuns(subject: GatedSubject): Promise<readonly RunRecord[]>
  /** Active runs of these tasks, or of these missions as a whole, with a valid approval; at most 100. */
  approvedBy(
    identity: string,
    subjects: { readonly taskIds: readonly TaskId[]; readonly missionIds: readonly MissionId[] },
  ): Promise<readonly RunRecord[]>
  definition(hash: string): Promise<ProcessDefinition | null>
  /** The moves of a run, newest first. */
  history(runId: RunId, request: PageRequest): Promise<Page<RunEvent>>
  /** The event that created a revision; null for the first. */
  eventAt(runId: RunId, revision: number): Promise<RunEvent | null>
  /** The remote machines that files were submitted from, by the run's revision; those of the record's own machine are not in it. */
  machinesOfRun(runId: RunId): Promise<ReadonlyMap<number, string>>
  refusals(runId: RunId, request: PageRequest): Promise<Page<RunRefusal>>
  /** The refusals of this event with this code since the run entered its state; optionally with the same submission. */
  refusalsAlike(
    runId: RunId,
    refused: {
      readonly event: string
      readonly code: string
      readonly since: number
      readonly tried?: RunRefusal['tried']
    },
  ): Promise<number>
  /** Oldest first, at most 1000. */
  approvals(runId: RunId): Promise<readonly RunApproval[]>
  /**
   * The last result of a command line in a folder on a tree, or on any tree. A runner's result counts for any folder.
   */
  commandResult(
    command: Pick<CommandResult, 'run' | 'folder'> & { readonly reportedBy?: 'runner' },
    tree?: string,
  ): Promise<CommandResult | null>
  command(id: string): Promise<CommandResult | null>
  /** The commands that were started in a folder and have no end yet, at most 20. */
  commandsRunningIn(folder: string): Promise<readonly CommandResult[]>
  /** The commands that were run for a run and have ended, oldest first. */
  commandsOf(runId: RunId, limit: number): Promise<readonly CommandResult[]>
  /** The whole output of a command; null if its result contains all of it. */
  commandOutput(id: CommandResultId): Promise<StoredOutput | null>
  /** Stored outputs of commands that ended before; the size is that of their texts. */
  outputsBefore(before: number): Promise<{ readonly count: number; readonly bytes: number }>
  /** The attempts at a task, or in a mission, first to last, at most 1000. */
  attemptsOf(subject: RunSubject): Promise<readonly Attempt[]>
  /** Who made these attempts, each once: of all of them. */
  actorsOf(subject: RunSubject): Promise<readonly Actor[]>
  /**
   * The measured changes of closed attempts, at most 20,000, all `unknown` when there are more; `measurement` null
   * while an attempt has no end.
   */
  changesOf(attemptIds: readonly AttemptId[]): Promise<readonly AttemptChanges[]>
  /** The project's settings by name; absent ones have their defaults. */
  settings(): Promise<ReadonlyMap<SettingName, string>>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

export interface StoredOutput {
  /** Null if it expired and was removed. */
  readonly text: string | null
  readonly bytes: number
  readonly removedAt: number | null
}
