import type { Actor } from '../domain/actor.ts'
import type { Fact, NewFact } from '../domain/fact.ts'
import type { AttemptId, ProjectId, SessionId, TokenId } from '../domain/id.ts'
import type { RecordEnd } from './moving.ts'
import type {
  EdgeReads,
  HoldReads,
  IdentityReads,
  JournalReads,
  KnownEdge,
  MissionReads,
  PlanReads,
  RecordReads,
  RunReads,
  TaskReads,
  TimelineReads,
} from './reads.ts'

/** Every question that can be asked of the store. Each method is one query with a limit. */
export interface Reads {
  readonly missions: MissionReads
  readonly tasks: TaskReads
  readonly timeline: TimelineReads
  readonly plan: PlanReads
  readonly records: RecordReads
  readonly holds: HoldReads
  readonly runs: RunReads
  readonly identities: IdentityReads
  readonly edges: EdgeReads
  readonly journal: JournalReads
}

/** What a decision came to: what happened, and what the caller is answered. */
export interface Decided<Answer> {
  readonly facts: readonly NewFact[]
  /** What is written with them and is in none of them. */
  readonly beside?: readonly Beside[]
  readonly answer: Answer
}

/** The same, where the answer is read in the transaction once the facts are applied. */
export interface DecidedFirst<Answer> {
  readonly facts: readonly NewFact[]
  readonly beside?: readonly Beside[]
  readonly answerFrom: (after: Reads) => Promise<Answer>
}

/**
 * What no fact holds: of a token or a session the hash of its secret, and when it was used; of a machine where agents
 * work when it was heard of, and what it sent.
 */
export type Beside = SecretBeside | EdgeBeside | ProjectBeside

export type ProjectBeside =
  /** A project with the first facts of its own journal. */
  | {
      readonly kind: 'project made'
      readonly id: ProjectId
      readonly name: string
      readonly facts: readonly NewFact[]
    }
  | { readonly kind: 'project renamed'; readonly id: string; readonly name: string }

export type EdgeBeside =
  /** A machine where agents work was heard of. */
  | (Omit<KnownEdge, 'seenAt'> & { readonly kind: 'edge seen'; readonly at: number })
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

export type SecretBeside =
  | { readonly kind: 'secret made'; readonly of: TokenId | SessionId; readonly hash: string }
  | { readonly kind: 'secret used'; readonly of: TokenId | SessionId; readonly at: number }
  | { readonly kind: 'secret ended'; readonly of: TokenId | SessionId }

/** A command's key: same key and same input, same answer. */
export interface Idempotency {
  readonly key: string
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
  /** Runs inside the one write transaction: reads what it rests on, calls the pure domain, answers what happened. */
  decide(reads: Reads): Promise<Decided<Answer> | DecidedFirst<Answer>>
}

export interface Store {
  /**
   * The only writer. Nothing that `decide` answers is half applied.
   * Fails with IDEMPOTENCY_KEY_REUSED, or UNAVAILABLE when the database is locked for ten seconds, full or read-only.
   */
  record<Answer>(request: RecordRequest<Answer>): Promise<Answer>
  /** A consistent view: all reads of `look` see one state. A project that was never written to is empty. */
  view<Answer>(look: (reads: Reads) => Promise<Answer>): Promise<Answer>
  /** The stored answer of a key, if it was used: `decide` need not be prepared for a repeat. */
  replay(idempotency: Idempotency): Promise<{ readonly answer: unknown } | null>
  /** Makes the project from its whole journal. Fails with CONFLICT where there is a record already. */
  restore(facts: readonly Fact[]): Promise<void>
  /**
   * Compares every table with what the facts make of an empty store; asks SQLite whether the file is sound. Facts that a
   * check before this one applied are not applied again, unless it is to be `full`.
   */
  inspect(how?: { readonly full: boolean }): Promise<Inspection>
  /** The chain of hashes and the anchor alone. */
  inspectChain(): Promise<ChainInspection>
  /** Makes the tables again from the facts, after a copy of the file. Fails with REFUSED where the journal is broken. */
  repair(at: number): Promise<Repair>
  /**
   * Takes the record as it is for the right one, also where it lacks what it held before, or where the project moved to
   * a place that is lost. Answers its facts.
   */
  accept(by: { readonly at: number; readonly actor: Actor }): Promise<number>
  /** Copies the whole database to a new file while others use it. A relative path is meant from where the caller stands. */
  backup(file: string): Promise<BackupMade>
  /** Puts a backup in the place of the database, of which a copy is kept. Right with servers running. */
  putBack(backup: string, at: number): Promise<PutBack>
  /** What is said first of what is read here, as it was at the last question; null for a project that is written here. */
  notice(): Promise<string | null>
  /** What is needed to move the project to another place, or from one. */
  end(): Promise<RecordEnd>
  /** What `doctor` and `status` say about the database. Creates nothing. */
  health(): Promise<StoreHealth>
  /** Why nothing could be recorded now, in a sentence; null when it could. Creates nothing. */
  unreadiness(): Promise<string | null>
  /**
   * Facts after `after` as they are committed by any process, those together that are there together, until the signal
   * aborts. Costs a poll only while followed.
   */
  follow(after: number, signal: AbortSignal): AsyncIterable<readonly Fact[]>
  close(): Promise<void>
}

/** What was found in a whole record. */
export interface Inspection {
  /** Facts whose hashes follow one from the other. */
  readonly facts: number
  /** The first fact whose hash does not follow; null when the chain holds. */
  readonly brokenAt: number | null
  /** Why a fact could not be applied again; null when all were. */
  readonly trouble: string | null
  /** How what is there stands to the anchor outside the database: null where there is none yet. */
  readonly anchor: { readonly ok: boolean; readonly says: string } | null
  /** What SQLite found wrong in the file; null where the record is kept on a server. */
  readonly damage: readonly string[] | null
  /** How many tables and rows were compared with what the facts make; none where the journal is broken. */
  readonly tables: number
  readonly rows: number
  readonly differing: number
  /** The first differing rows of each table, a sentence each. */
  readonly differences: readonly { readonly table: string; readonly says: string }[]
}

export type ChainInspection = Pick<Inspection, 'facts' | 'brokenAt' | 'anchor'>

export interface BackupMade {
  /** Absolute path. */
  readonly file: string
  readonly bytes: number
  readonly facts: number
}

export interface PutBack {
  /** Absolute path of the backup. */
  readonly restored: string
  readonly facts: number
  /** What was replaced; null where there was nothing. */
  readonly kept: string | null
}

export interface Repair {
  /** The copy of the database as it was; null where a server keeps it. */
  readonly backup: string | null
  readonly facts: number
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
  /** Where the project went, in a sentence; null where it is written here. */
  readonly moved: string | null
  /** Sentences about what to know or fix. Empty when all is well. */
  readonly warnings: readonly string[]
}

/** The sha-256, in hexadecimal, of a value's canonical JSON (RFC 8785). */
export type Fingerprint = (value: unknown) => string
