import type { Actor } from '../domain/actor.ts'
import type { Fact } from '../domain/fact.ts'

/** How far a journal has come: its last fact. */
export interface Head {
  readonly seq: number
  readonly hash: string
}

/** The record of a project at one place. */
export interface RecordStanding extends Head {
  /** Where it went, when this is no longer the place where it is written. */
  readonly movedTo: string | null
  /** It is being brought here: nobody reads or writes it. */
  readonly isArriving: boolean
}

/** What goes with a project’s facts: answers of idempotency keys, what attempts changed line by line, what people are told, what commands printed. */
export const keptTables = [
  'command',
  'attempt_diff',
  'notification_address',
  'notice',
  'notice_cursor',
  'command_output',
  'review_draft',
  'review_viewed',
  'review_looked',
  'attempt_files',
  'file_content',
] as const
export type KeptTable = (typeof keptTables)[number]
export type KeptValue = string | number | null | { readonly base64: string }

export interface KeptRow {
  readonly table: KeptTable
  readonly values: Readonly<Record<string, KeptValue>>
}

/** The record of a project at one of the two places that it is moved between. */
export interface RecordEnd {
  /** What the place is called for people: without a password. */
  readonly shown: string
  /** The project of the folder; null where there is none yet. */
  projectId(): Promise<string | null>
  standing(projectId: string): Promise<RecordStanding | null>
  /** What is known of a record that may be gone, from outside of it. */
  remembered(): Promise<(Head & { readonly projectId: string }) | null>
  factsAfter(projectId: string, seq: number, limit: number): Promise<readonly Fact[]>
  keptAfter(projectId: string, after: KeptRow | null, limit: number): Promise<readonly KeptRow[]>
  /**
   * Makes ready for a project, where nobody sees it. Fails with CONFLICT where another one stands in the way, or where
   * the record is not the one that was found.
   */
  begin(projectId: string, beginning: Beginning): Promise<void>
  /** The facts that come next. Taking them twice is as taking them once. */
  take(projectId: string, facts: readonly Fact[]): Promise<void>
  keep(projectId: string, rows: readonly KeptRow[]): Promise<void>
  /** The project is written here from now on: the fact `project.arrived` says so. */
  open(projectId: string, opening: Opening): Promise<void>
}

export interface Beginning {
  /** What was found here; null where there was nothing. */
  readonly from: Head | null
  readonly at: number
  /** What is remembered of a record that was here is in the one that comes. */
  readonly vouched: boolean
}

export interface Opening {
  /** The last fact of the place that it comes from. */
  readonly head: Head
  /** What that place is called. */
  readonly from: string
  readonly actor: Actor
  readonly at: number
}

/** Other places that a project can be moved to. */
export interface Places {
  /** Opens one: a file's path, or a URL. `name` is what the project is called where several are kept. */
  open(named: string, name: string | null): Promise<OtherPlace>
  /** Tells a person how far it is. */
  readonly tell: (line: string) => void
}

export interface OtherPlace {
  readonly end: RecordEnd
  /** Whether the folder's record is there already. */
  readonly isHere: boolean
  /** Keeps, for this user alone, how it is reached: also a move that is interrupted needs it. */
  remember(): string | null
  /** Lets the folder lead there. Answers what was kept where, in a sentence. */
  lead(): string
  close(): Promise<void>
}
