import type { NewProjectEvent, ProjectEvent } from '../../events/domain/project-event.ts'
import type { EventLogReads } from '../../events/ports/log-reads.ts'
import type { GuardedCommandReads } from '../../gate/ports/guarded-command-reads.ts'
import type { RunReads } from '../../gate/ports/run-reads.ts'
import type { InboxItemReads } from '../../inbox/ports/item-reads.ts'
import type { Actor } from '../../kernel/actor.ts'
import type { Failure } from '../../kernel/failure.ts'
import type {
  AttemptId,
  CaptureSessionId,
  CommandResultId,
  NotificationId,
  ProjectId,
  RunId,
  SessionId,
  TokenId,
  TurnId,
} from '../../kernel/id.ts'
import type { StepPosition } from '../../lines/domain/line-hashes.ts'
import type { LineReads } from '../../lines/ports/line-reads.ts'
import type { NoticeDelivery, NotificationReads } from '../../notifications/ports/notification-reads.ts'
import type { IdentityReads } from '../../people/ports/identity-reads.ts'
import type { PlanReads } from '../../plan/ports/plan-reads.ts'
import type { TaskReads } from '../../plan/ports/task-reads.ts'
import type { RemoteMachineReads, RemoteMachineRecord } from '../../remote/ports/machine-reads.ts'
import type { StatReads } from '../../reports/ports/stat-reads.ts'
import type { TimelineReads } from '../../reports/ports/timeline-reads.ts'
import type { DraftComment } from '../../review/domain/review.ts'
import type { FileStates, ReviewReads } from '../../review/ports/review-reads.ts'
import type { LocatedHookEvent } from '../../sessions/domain/turns-from-hook-events.ts'
import type { CaptureReads } from '../../sessions/ports/capture-reads.ts'
import type { FileLossReads } from '../../track/ports/file-loss-reads.ts'
import type { LandingReads } from '../../track/ports/landing-reads.ts'
import type { MissionReads } from '../../track/ports/mission-reads.ts'
import type { RecordReads } from '../../track/ports/record-reads.ts'
import type { TreeWriteReads } from '../../track/ports/tree-write-reads.ts'
import type { LogSource, SideRow } from './record-rows.ts'

/** Every query of the store. Each method is one query with a limit. */
export interface Reads {
  readonly missions: MissionReads
  readonly tasks: TaskReads
  readonly timeline: TimelineReads
  readonly plan: PlanReads
  readonly records: RecordReads
  readonly landings: LandingReads
  readonly treeWrites: TreeWriteReads
  readonly fileLosses: FileLossReads
  readonly guardedCommands: GuardedCommandReads
  readonly inboxItems: InboxItemReads
  readonly runs: RunReads
  readonly identities: IdentityReads
  readonly machines: RemoteMachineReads
  readonly notifications: NotificationReads
  readonly lines: LineReads
  readonly capture: CaptureReads
  readonly eventLog: EventLogReads
  readonly stats: StatReads
  readonly reviews: ReviewReads
  readonly keys: KeyReads
}

export interface KeyReads {
  /** The answer stored for a key. Fails with IDEMPOTENCY_KEY_REUSED if the input differs. */
  answerOf(idempotency: Idempotency): Promise<StoredAnswer | null>
}

export interface StoredAnswer {
  readonly answer: unknown
}

/** The result of a decision: its events, and the answer for the caller. */
export interface ChangeSet<Answer> {
  readonly events: readonly NewProjectEvent[]
  /** The agent name in the attempt or claim that this belongs to. */
  readonly agentName?: string | null
  /** Rows outside the log that are written with them. */
  readonly sideWrites?: readonly SideWrite[]
  /** Stores an answer for a key that only some outcomes bind, such as an accepted event. */
  readonly binds?: StoredAnswer & { readonly idempotency: Idempotency }
  /** The caller repeats the call: the answer is not stored for its key. */
  readonly isProvisional?: true
  readonly answer: Answer
}

/** The answer is read in the transaction, after the events are applied. */
export interface DeferredChangeSet<Answer> {
  readonly events: readonly NewProjectEvent[]
  /** The agent name in the attempt or claim that this belongs to. */
  readonly agentName?: string | null
  readonly sideWrites?: readonly SideWrite[]
  readonly answerFrom: (after: Reads) => Promise<Answer>
}

/** A recorded refusal: its events are kept, and it binds no key. */
export interface RefusedChangeSet {
  readonly events: readonly NewProjectEvent[]
  readonly agentName?: string | null
  readonly sideWrites?: readonly SideWrite[]
  readonly refused: Failure
}

export type DecidedChangeSet<Answer> = ChangeSet<Answer> | DeferredChangeSet<Answer> | RefusedChangeSet

/** Data outside the log: secrets' hashes, machines' last calls and files, notification addresses and messages. */
export type SideWrite =
  | SecretSideWrite
  | RemoteMachineSideWrite
  | OutputSideWrite
  | ProjectSideWrite
  | NotificationSideWrite
  | CaptureSideWrite
  | LineSideWrite
  | ReviewSideWrite

export type NotificationSideWrite =
  | {
      readonly kind: 'address kept'
      readonly of: NotificationId
      readonly url: string
      readonly secret: string | null
    }
  /** Its sent messages are deleted, too. */
  | { readonly kind: 'address ended'; readonly of: NotificationId }
  | {
      readonly kind: 'notices kept'
      readonly notices: readonly NoticeDelivery[]
      /** The read position in the log; null to leave it. */
      readonly cursor: number | null
      /** Older messages are deleted. */
      readonly before: number | null
    }

export type OutputSideWrite =
  /** The full output of a command, if a log entry only has its end. */
  | { readonly kind: 'output kept'; readonly commandId: CommandResultId; readonly text: string }
  /** Removes outputs of commands that ended before a time; hashes and sizes stay. */
  | { readonly kind: 'outputs removed'; readonly before: number; readonly at: number }

export type ProjectSideWrite =
  /** A project with the first entries of its own log. */
  | {
      readonly kind: 'project made'
      readonly id: ProjectId
      readonly name: string
      readonly events: readonly NewProjectEvent[]
      /** The agent name in the attempt or claim that this belongs to. */
      readonly agentName?: string | null
    }
  | { readonly kind: 'project renamed'; readonly id: string; readonly name: string }

export type RemoteMachineSideWrite =
  /** A remote machine called. */
  | (Omit<RemoteMachineRecord, 'seenAt'> & { readonly kind: 'machine seen'; readonly at: number })
  /** A command still runs; without another call, it counts as running until then. */
  | { readonly kind: 'command leased'; readonly commandId: string; readonly until: number }
  /** Removes diffs of attempts that ended before a time; hashes and sizes stay. */
  | { readonly kind: 'diffs removed'; readonly before: number }
  /** An attempt's changes line by line, if its files are on another machine. */
  | {
      readonly kind: 'diff kept'
      readonly attemptId: AttemptId
      readonly text: string
      readonly cut: boolean
    }

export type ReviewSideWrite =
  /** An unsent draft of a person. */
  | {
      readonly kind: 'draft kept'
      readonly ownerId: string
      readonly subject: string
      readonly draft: DraftComment
    }
  | { readonly kind: 'drafts dropped'; readonly ownerId: string; readonly ids: readonly string[] }
  /** A viewed file of a person; null content marks it as not viewed. */
  | {
      readonly kind: 'files viewed'
      readonly ownerId: string
      readonly subject: string
      readonly at: number
      readonly files: readonly { readonly place: string; readonly content: string | null }[]
    }
  /** The person viewed everything that ended until then. */
  | { readonly kind: 'all looked at'; readonly ownerId: string; readonly at: number }
  /** Removes file contents of attempts that ended before a time; their hashes stay. */
  | { readonly kind: 'contents removed'; readonly before: number }
  /** Files before and after an attempt on another machine. */
  | {
      readonly kind: 'files kept'
      readonly attemptId: AttemptId
      readonly at: number
      readonly files: readonly FileStates[]
      readonly contents: readonly { readonly id: string; readonly bytes: Uint8Array }[]
    }

/** Removes line hashes from the log entries that recorded them. */
export interface LineSideWrite {
  readonly kind: 'line hashes forgotten'
  readonly steps: readonly StepPosition[]
}

export type CaptureSideWrite =
  /** Hook events: kept until the turn ends, and their keys for a week more. */
  | {
      readonly kind: 'hook events ingested'
      readonly hookEvents: readonly {
        readonly hookEvent: LocatedHookEvent
        readonly sessionId: CaptureSessionId
        readonly turnId: TurnId | null
        /** Whether its turn continues. */
        readonly isOpen: boolean
      }[]
    }
  | { readonly kind: 'turns recorded'; readonly turnIds: readonly TurnId[] }
  | { readonly kind: 'hook events forgotten'; readonly before: number }
  | { readonly kind: 'prompt kept'; readonly turnId: TurnId; readonly text: string }
  | { readonly kind: 'prompts forgotten'; readonly sessionId: CaptureSessionId }

export type SecretSideWrite =
  | { readonly kind: 'secret made'; readonly of: TokenId | SessionId; readonly hash: string }
  | { readonly kind: 'secret used'; readonly of: TokenId | SessionId; readonly at: number }
  | { readonly kind: 'secret ended'; readonly of: TokenId | SessionId }

/** An idempotency key: the same key and input give the same answer. */
export interface Idempotency {
  readonly key: string
  /** Keys are per run. */
  readonly run?: RunId
  /** The key's owner: keys of different principals never collide. */
  readonly owner: string
  /** The connection of the call: a claim's token is only answered to the same one. */
  readonly connection: string | null
  readonly operation: string
  /** Hash of the input that came with the key. */
  readonly inputHash: string
}

export interface RecordRequest<Answer> {
  readonly actor: Actor
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly idempotency?: Idempotency
  /** Reopens a project that is closed for writing. */
  readonly reopens?: true
  /** Runs inside the one write transaction: reads, decides in the pure domain, and returns the events. */
  decide(reads: Reads): Promise<DecidedChangeSet<Answer>>
}

/** The store for queries: it cannot write. */
export type StoreReader = Pick<
  Store,
  'view' | 'replay' | 'inspect' | 'inspectChain' | 'notice' | 'sideRows' | 'health' | 'unreadiness' | 'follow'
>

export interface Store {
  /** The only writer, all or nothing. Fails with IDEMPOTENCY_KEY_REUSED, or UNAVAILABLE when the database is locked, full or read-only. */
  record<Answer>(request: RecordRequest<Answer>): Promise<Answer>
  /** A consistent view: all reads see one state. A project without a record is empty. */
  view<Answer>(look: (reads: Reads) => Promise<Answer>): Promise<Answer>
  /** The stored answer of a used key. */
  replay(idempotency: Idempotency): Promise<StoredAnswer | null>
  /** Restores the project from its whole log, all or nothing. Fails with CONFLICT if there is a record. */
  restore(log: LogSource, restoring?: LogRestoreOptions): Promise<LogRestoreResult>
  /** The next rows beside the log, after a given row. */
  sideRows(after: SideRow | null, limit: number): Promise<readonly SideRow[]>
  /** Compares every table with a replay of the log, and checks the file with SQLite. */
  inspect(): Promise<Inspection>
  /** Only the chain of hashes and the anchor. */
  inspectChain(): Promise<ChainInspection>
  /** Rebuilds the tables from the log, after a copy of the file. Fails with REFUSED if the log is broken. */
  repair(at: number): Promise<RepairResult>
  /** Trusts the record even if it lacks earlier entries. Returns the number of its log entries. */
  accept(at: number): Promise<number>
  /** Copies the whole database to a new file while others use it. Relative paths start at the caller's folder. */
  backup(file: string): Promise<BackupResult>
  /** Replaces the database by a backup and keeps a copy. Servers may keep running. */
  putBack(backup: string, at: number): Promise<BackupRestoreResult>
  /** The notice that the project is closed for writing, as of the last query; null while it is open. */
  notice(): Promise<string | null>
  /** The database state for `doctor` and `status`. Creates nothing. */
  health(): Promise<StoreHealth>
  /** Why nothing can be recorded now; null if it can. Creates nothing. */
  unreadiness(): Promise<string | null>
  /** The log entries after a position, when a process commits them, until the signal aborts. The database is polled only meanwhile. */
  follow(after: number, signal: AbortSignal): AsyncIterable<readonly ProjectEvent[]>
  close(): Promise<void>
}

export interface LogRestoreOptions {
  /** Replaces the existing record: continues it if the log starts with it, else sets it aside. */
  readonly replace: boolean
  /** The actor who reopens the project if the log ends with its closing. */
  readonly actor: Actor
  readonly at: number
}

export interface LogRestoreResult {
  /** How many entries were added. */
  readonly added: number
  /** The new name of the replaced record; null if there was none, or it was continued. */
  readonly setAside: string | null
}

/** The results of checking a whole record. */
export interface Inspection {
  /** Log entries in an intact chain. */
  readonly events: number
  /** The first log entry that breaks the chain; null for an intact one. */
  readonly brokenAt: number | null
  /** Why a log entry could not be replayed; null if all were. */
  readonly error: string | null
  /** The result of comparing the record with its anchor; null without an anchor. */
  readonly anchor: { readonly ok: boolean; readonly says: string } | null
  /** SQLite's findings in the file; null for a server. */
  readonly damage: readonly string[] | null
  /** The number of compared tables and rows; 0 if the log is broken. */
  readonly tables: number
  readonly rows: number
  readonly differing: number
  /** The first differing rows of each table, a sentence each. */
  readonly differences: readonly { readonly table: string; readonly says: string }[]
}

export type ChainInspection = Pick<Inspection, 'events' | 'brokenAt' | 'anchor'>

export interface BackupResult {
  /** Absolute path. */
  readonly file: string
  readonly bytes: number
  readonly events: number
}

export interface BackupRestoreResult {
  /** Absolute path of the backup. */
  readonly restored: string
  readonly events: number
  /** The copy of the replaced database; null if there was none. */
  readonly kept: string | null
}

export interface RepairResult {
  /** The copy of the old database; null for a server. */
  readonly backup: string | null
  readonly events: number
  /** The rebuilt tables, and the number of differing rows. */
  readonly tables: readonly string[]
  readonly rows: number
}

export interface StoreHealth {
  readonly location: string
  readonly exists: boolean
  readonly journalMode: string | null
  readonly schemaVersion: number | null
  readonly seq: number
  /** The notice that the project is closed for writing; null while it is open. */
  readonly ended: string | null
  /** Warnings, empty when all is well. */
  readonly warnings: readonly string[]
}

/** The sha-256, in hexadecimal, of a value's canonical JSON (RFC 8785). */
export type Fingerprint = (value: unknown) => string
