import type { NewProjectEvent, ProjectEvent } from '../../events/domain/project-event.ts'
import type { EventLogReads } from '../../events/ports/log-reads.ts'
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
import type { MissionReads } from '../../track/ports/mission-reads.ts'
import type { RecordReads } from '../../track/ports/record-reads.ts'
import type { SideRow } from './record-rows.ts'

/** Every question that can be asked of the store. Each method is one query with a limit. */
export interface Reads {
  readonly missions: MissionReads
  readonly tasks: TaskReads
  readonly timeline: TimelineReads
  readonly plan: PlanReads
  readonly records: RecordReads
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
  /** The answer that is stored for a key. Fails with IDEMPOTENCY_KEY_REUSED where it came with another input. */
  answerOf(idempotency: Idempotency): Promise<StoredAnswer | null>
}

export interface StoredAnswer {
  readonly answer: unknown
}

/** What a decision came to: what happened, and what the caller is answered. */
export interface ChangeSet<Answer> {
  readonly events: readonly NewProjectEvent[]
  /** What the agent calls itself in the attempt or claim that this belongs to. */
  readonly agentName?: string | null
  /** What is written with them and is in none of them. */
  readonly beside?: readonly SideWrite[]
  /** Stores an answer for a key that only some outcomes bind, such as an event that was accepted. */
  readonly binds?: StoredAnswer & { readonly idempotency: Idempotency }
  readonly answer: Answer
}

/** The same, where the answer is read in the transaction once the log entries are applied. */
export interface DeferredChangeSet<Answer> {
  readonly events: readonly NewProjectEvent[]
  /** What the agent calls itself in the attempt or claim that this belongs to. */
  readonly agentName?: string | null
  readonly beside?: readonly SideWrite[]
  readonly answerFrom: (after: Reads) => Promise<Answer>
}

/** A refusal that is recorded: its log entries stay, and it binds no key. */
export interface RefusedChangeSet {
  readonly events: readonly NewProjectEvent[]
  readonly agentName?: string | null
  readonly beside?: readonly SideWrite[]
  readonly refused: Failure
}

export type DecidedChangeSet<Answer> = ChangeSet<Answer> | DeferredChangeSet<Answer> | RefusedChangeSet

/**
 * What no log entry holds: of a token or a session the hash of its secret, and when it was used; of a machine where agents
 * work when it was heard of, and what it sent; of notifications where they go, and what was told.
 */
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
  /** What was sent there is forgotten with it. */
  | { readonly kind: 'address ended'; readonly of: NotificationId }
  | {
      readonly kind: 'notices kept'
      readonly notices: readonly NoticeDelivery[]
      /** How far the log was read; null where that is not said. */
      readonly cursor: number | null
      /** What came before is forgotten. */
      readonly before: number | null
    }

export type OutputSideWrite =
  /** What a command printed, where a log entry has only its end. */
  | { readonly kind: 'output kept'; readonly commandId: CommandResultId; readonly text: string }
  /** What commands printed that ended before is removed; hashes and sizes stay. */
  | { readonly kind: 'outputs removed'; readonly before: number; readonly at: number }

export type ProjectSideWrite =
  /** A project with the first log entries of its own journal. */
  | {
      readonly kind: 'project made'
      readonly id: ProjectId
      readonly name: string
      readonly events: readonly NewProjectEvent[]
      /** What the agent calls itself in the attempt or claim that this belongs to. */
      readonly agentName?: string | null
    }
  | { readonly kind: 'project renamed'; readonly id: string; readonly name: string }

export type RemoteMachineSideWrite =
  /** A machine where agents work was heard of. */
  | (Omit<RemoteMachineRecord, 'seenAt'> & { readonly kind: 'machine seen'; readonly at: number })
  /** A command still runs; without a word of it, it is believed to until then. */
  | { readonly kind: 'command leased'; readonly commandId: string; readonly until: number }
  /** The texts of diffs of attempts that ended before are removed; their hashes and sizes stay. */
  | { readonly kind: 'diffs removed'; readonly before: number }
  /** What an attempt changed, line by line, where its files are elsewhere. */
  | {
      readonly kind: 'diff kept'
      readonly attemptId: AttemptId
      readonly text: string
      readonly cut: boolean
    }

export type ReviewSideWrite =
  /** What a person wrote and has not sent. */
  | {
      readonly kind: 'draft kept'
      readonly ownerId: string
      readonly subject: string
      readonly draft: DraftComment
    }
  | { readonly kind: 'drafts dropped'; readonly ownerId: string; readonly ids: readonly string[] }
  /** What a person looked at; null content for what they want to look at again. */
  | {
      readonly kind: 'files viewed'
      readonly ownerId: string
      readonly subject: string
      readonly at: number
      readonly files: readonly { readonly place: string; readonly content: string | null }[]
    }
  /** They looked at all that ended until then. */
  | { readonly kind: 'all looked at'; readonly ownerId: string; readonly at: number }
  /** The contents of files of attempts that all ended before are removed; which contents those were stays. */
  | { readonly kind: 'contents removed'; readonly before: number }
  /** What files held around an attempt on another machine. */
  | {
      readonly kind: 'files kept'
      readonly attemptId: AttemptId
      readonly at: number
      readonly files: readonly FileStates[]
      readonly contents: readonly { readonly id: string; readonly bytes: Uint8Array }[]
    }

/** Hashes of lines leave the log entries that recorded them. */
export interface LineSideWrite {
  readonly kind: 'line hashes forgotten'
  readonly steps: readonly StepPosition[]
}

export type CaptureSideWrite =
  /** What hooks told: kept until its turn ends, and its key for a week more. */
  | {
      readonly kind: 'hook events ingested'
      readonly hookEvents: readonly {
        readonly hookEvent: LocatedHookEvent
        readonly sessionId: CaptureSessionId
        readonly turnId: TurnId | null
        /** Whether its turn goes on. */
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

/** A key of a call: same key and same input, same answer. */
export interface Idempotency {
  readonly key: string
  /** Each run has keys of its own. */
  readonly run?: RunId
  /** Whose key it is: the same word of another actor is another key. */
  readonly owner: string
  /** The connection it comes by, where there is one: a claim's token is answered to no other. */
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
  /** It opens a project in which writing ended. */
  readonly reopens?: true
  /** Runs inside the one write transaction: reads what it rests on, calls the pure domain, answers what happened. */
  decide(reads: Reads): Promise<DecidedChangeSet<Answer>>
}

/** What a query may ask of a store: it records nothing. */
export type StoreReader = Pick<
  Store,
  'view' | 'replay' | 'inspect' | 'inspectChain' | 'notice' | 'kept' | 'health' | 'unreadiness' | 'follow'
>

export interface Store {
  /**
   * The only writer. Nothing that `decide` answers is half applied.
   * Fails with IDEMPOTENCY_KEY_REUSED, or UNAVAILABLE when the database is locked for ten seconds, full or read-only.
   */
  record<Answer>(request: RecordRequest<Answer>): Promise<Answer>
  /** A consistent view: all reads of `look` see one state. A project that was never written to is empty. */
  view<Answer>(look: (reads: Reads) => Promise<Answer>): Promise<Answer>
  /** The stored answer of a key, if it was used: `decide` need not be prepared for a repeat. */
  replay(idempotency: Idempotency): Promise<StoredAnswer | null>
  /** Makes the project from its whole log, all of it or nothing. Fails with CONFLICT where there is a record already. */
  restore(events: readonly ProjectEvent[], restoring?: LogRestoreOptions): Promise<LogRestoreResult>
  /** What belongs to the project beside its log, a page at a time, after a row. */
  kept(after: SideRow | null, limit: number): Promise<readonly SideRow[]>
  /** Compares every table with what the log entries make of an empty store; asks SQLite whether the file is sound. */
  inspect(): Promise<Inspection>
  /** The chain of hashes and the anchor alone. */
  inspectChain(): Promise<ChainInspection>
  /** Makes the tables again from the log entries, after a copy of the file. Fails with REFUSED where the log is broken. */
  repair(at: number): Promise<RepairResult>
  /** Takes the record as it is for the right one, also where it lacks what it held before. Answers its log entries. */
  accept(at: number): Promise<number>
  /** Copies the whole database to a new file while others use it. A relative path is meant from where the caller stands. */
  backup(file: string): Promise<BackupResult>
  /** Puts a backup in the place of the database, of which a copy is kept. Right with servers running. */
  putBack(backup: string, at: number): Promise<BackupRestoreResult>
  /** What is said first of what is read here, as it was at the last question; null where writing has not ended. */
  notice(): Promise<string | null>
  /** What `doctor` and `status` say about the database. Creates nothing. */
  health(): Promise<StoreHealth>
  /** Why nothing could be recorded now, in a sentence; null when it could. Creates nothing. */
  unreadiness(): Promise<string | null>
  /**
   * Facts after `after` as they are committed by any process, those together that are there together, until the signal
   * aborts. Costs a poll only while followed.
   */
  follow(after: number, signal: AbortSignal): AsyncIterable<readonly ProjectEvent[]>
  close(): Promise<void>
}

export interface LogRestoreOptions {
  /** What belongs to the project beside its log. */
  readonly kept: readonly SideRow[]
  /** Takes the place of the record that is here: continues it where it is the beginning of the log, else sets it aside. */
  readonly replace: boolean
  /** Who opens the project for writing where the log ends with the end of writing. */
  readonly actor: Actor
  readonly at: number
}

export interface LogRestoreResult {
  /** How many entries were added. */
  readonly added: number
  /** What the record that was here is called now; null where there was none, or it was continued. */
  readonly setAside: string | null
}

/** What was found in a whole record. */
export interface Inspection {
  /** Facts whose hashes follow one from the other. */
  readonly events: number
  /** The first log entry whose hash does not follow; null when the chain holds. */
  readonly brokenAt: number | null
  /** Why a log entry could not be applied again; null when all were. */
  readonly error: string | null
  /** How what is there stands to the anchor outside the database: null where there is none yet. */
  readonly anchor: { readonly ok: boolean; readonly says: string } | null
  /** What SQLite found wrong in the file; null where the record is kept on a server. */
  readonly damage: readonly string[] | null
  /** How many tables and rows were compared with what the log entries make; none where the log is broken. */
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
  /** What was replaced; null where there was nothing. */
  readonly kept: string | null
}

export interface RepairResult {
  /** The copy of the database as it was; null where a server keeps it. */
  readonly backup: string | null
  readonly events: number
  /** The tables that were made again, and how many of their rows differed. */
  readonly tables: readonly string[]
  readonly rows: number
}

export interface StoreHealth {
  readonly location: string
  readonly exists: boolean
  readonly journalMode: string | null
  readonly schemaVersion: number | null
  readonly seq: number
  /** That writing ended here, in a sentence; null where it did not. */
  readonly ended: string | null
  /** Sentences about what to know or fix. Empty when all is well. */
  readonly warnings: readonly string[]
}

/** The sha-256, in hexadecimal, of a value's canonical JSON (RFC 8785). */
export type Fingerprint = (value: unknown) => string
