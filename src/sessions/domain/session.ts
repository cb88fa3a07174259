import type { AttemptId, CaptureSessionId, MissionId, TaskId, TurnId } from '../../kernel/id.ts'
import type { AttemptCommit, ContestedFile, ReportedChange } from '../../track/domain/changes.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import type { Coverage, TokenUsage } from './hook-event.ts'

/** A session of a client, as its hooks report it. Its turns are measured; nothing in it is claimed. */
export interface CapturedSession {
  readonly id: CaptureSessionId
  readonly client: string
  readonly version: string | null
  /** The client's own id. */
  readonly clientSession: string
  /** The top of the work tree that it began in. */
  readonly top: string
  readonly source: SessionSource
  /** The session that it was forked from or that it replaced. */
  readonly parentId: CaptureSessionId | null
  readonly model: string | null
  readonly transcript: string | null
  readonly status: 'open' | 'closed'
  readonly openedAt: number
}

export type SessionSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork'

/** One turn of an agent in one work tree: from a prompt to its end, or a subagent from its first edit to its stop. */
export interface Turn {
  readonly id: TurnId
  readonly sessionId: CaptureSessionId
  /** In its session, from 1. */
  readonly number: number
  /** The client's own id of the turn. */
  readonly clientTurn: string | null
  /** The subagent; null for the session's main agent. */
  readonly agent: { readonly id: string; readonly type: string | null } | null
  /** The main agent's turn that a subagent's work belongs to. */
  readonly parentId: TurnId | null
  readonly client: string
  readonly model: string | null
  readonly prompt: { readonly length: number; readonly wake: boolean } | null
  /** The top of its work tree. */
  readonly top: string
  /** Null if the work tree could not be recorded: then its changes are unknown. */
  readonly snapshot: SnapshotLocation | null
  readonly baseline: Baseline
  /** When the snapshot was taken. */
  readonly baselineAt: number
  readonly status: TurnStatus
  readonly endSnapshot: SnapshotLocation | null
  readonly openedAt: number
  readonly closedAt: number | null
}

/** `previous`: a state from before the turn, so later changes by others are included. `late`: after its first edit. */
export type Baseline = 'at_start' | 'previous' | 'late'

/** `ended` does not mean success: nobody reports how a turn went. */
export type TurnStatus = 'open' | 'ended' | 'failed'

/** An edit that an agent's tool reported. Contents are named by their ids as git stores them. */
export interface HookEdit {
  /** From the work tree's top. */
  readonly path: string
  readonly call: string | null
  readonly tool: string
  /** When it began and when it ended; null if only one of them was reported. */
  readonly from: number | null
  readonly reportedAt: number
  /** The content before and after: an id, null for no file, undefined if unknown. */
  readonly before?: string | null
  readonly after?: string | null
  /** When the content before was written, in milliseconds by the clock of the file system. */
  readonly modifiedAt?: number
  /** Whether the tool's edit alone explains the content after it. */
  readonly explained: boolean | null
  /** If it does not: the id of the content that the tool's edit alone would leave. */
  readonly meant?: string
  /** False if only its beginning was reported: it was denied, failed, or was cut off. */
  readonly ended: boolean
}

/** The time in which a shell or an unknown tool may have changed anything. */
export interface HookCommandWindow {
  readonly call: string | null
  readonly tool: string
  readonly program: string | null
  readonly from: number
  /** Null if it still ran when its turn ended. */
  readonly to: number | null
  readonly background: boolean
  readonly failed: boolean
}

export interface TurnChange extends Omit<ReportedChange, 'scope' | 'unseen'> {
  /** The lines are those of the turn, although others wrote there too. */
  readonly ownLines?: true
  /** An edit tool reported it. */
  readonly reported?: true
  /** Something also changed white space in it, such as a formatter after an edit. */
  readonly reformatted?: true
}

/** The measurement at the end of a turn. */
export interface TurnEvidence {
  readonly measurement: 'exact' | 'partial' | 'unknown'
  readonly changes: readonly TurnChange[]
  readonly ignored: {
    readonly added: readonly string[]
    readonly modified: readonly string[]
    readonly deleted: readonly string[]
  }
  /** Changed meanwhile, probably by others. */
  readonly contested: readonly ContestedFile[]
  /** Changed meanwhile by a person, or by a tool that no hook reported. */
  readonly outside: readonly string[]
  /** Reported by an edit tool, and not different at the end. */
  readonly unfound: readonly string[]
  readonly commits: readonly AttemptCommit[]
  readonly notes: readonly string[]
  /** Its first state, as measured; null if there is none. */
  readonly snapshot: SnapshotLocation | null
  readonly endSnapshot: SnapshotLocation | null
}

/** How an attempt was linked to a session. */
export type SessionLinkSource = 'answer' | 'call' | 'environment' | 'assumed'

export type CaptureEvent =
  | { readonly kind: 'session.opened'; readonly session: CapturedSession }
  | {
      readonly kind: 'session.continued'
      readonly sessionId: CaptureSessionId
      readonly client: string
      readonly source: SessionSource
      /** When the client reported it; absent in early records, as below. */
      readonly reportedAt?: number
    }
  | {
      readonly kind: 'session.closed'
      readonly sessionId: CaptureSessionId
      readonly client: string
      readonly reason: string | null
      readonly turns: number
      readonly events: number
      readonly lost: number
      readonly reportedAt?: number
    }
  /** Its texts were deleted. */
  | { readonly kind: 'session.forgotten'; readonly sessionId: CaptureSessionId; readonly client: string }
  | { readonly kind: 'turn.opened'; readonly turn: Turn }
  | {
      readonly kind: 'turn.closed'
      readonly turnId: TurnId
      readonly sessionId: CaptureSessionId
      readonly client: string
      readonly status: Exclude<TurnStatus, 'open'>
      /** When the client reported it. */
      readonly closedAt: number
      /** How it ended, if that was no plain stop. */
      readonly how: string | null
      /** The client's own message of a turn that failed. */
      readonly error: string | null
      readonly model: string | null
      readonly usage: TokenUsage | null
      /** Entries of the client's own to-do list: a claim. */
      readonly items: { readonly total: number; readonly done: number } | null
      /** The coverage that its client's hooks had in all of it. */
      readonly coverage: Coverage
      readonly lost: number
      readonly evidence: TurnEvidence
    }
  | {
      readonly kind: 'edits.reported'
      readonly turnId: TurnId
      readonly sessionId: CaptureSessionId
      readonly edits: readonly HookEdit[]
    }
  | {
      readonly kind: 'commands.seen'
      readonly turnId: TurnId
      readonly sessionId: CaptureSessionId
      readonly commands: readonly HookCommandWindow[]
    }
  /** An attempt of an agent in a session: what changes while it is open is the attempt's. */
  | {
      readonly kind: 'attempt.linked'
      readonly attemptId: AttemptId
      readonly taskId: TaskId
      readonly missionId: MissionId | null
      readonly sessionId: CaptureSessionId
      readonly turnId: TurnId | null
      readonly agentId: string | null
      readonly link: SessionLinkSource
    }
  | {
      readonly kind: 'capture.lost'
      readonly sessionId: CaptureSessionId
      readonly turnId: TurnId | null
      readonly from: number
      readonly to: number
      readonly count: number
      readonly why: string
    }
