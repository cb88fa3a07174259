import type { AttemptId, CaptureSessionId, TurnId } from '../../kernel/id.ts'
import type { ListPart, Page, PageRequest } from '../../kernel/page.ts'
import type { ChangeCounts } from '../../track/domain/changes.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import type { Coverage, TokenUsage } from '../domain/hook-event.ts'
import type {
  CapturedSession,
  HookCommandWindow,
  HookEdit,
  SessionLinkSource,
  Turn,
  TurnChange,
  TurnEvidence,
} from '../domain/session.ts'
import type { LocatedHookEvent } from '../domain/turns-from-hook-events.ts'

/** A session as lists show it. */
export interface SessionLine {
  readonly session: CapturedSession
  readonly reason: string | null
  readonly closedAt: number | null
  readonly forgottenAt: number | null
  readonly turns: number
  readonly events: number
  readonly lost: number
  /** Paths that its turns changed, each counted once. */
  readonly files: number
  /** Null where no turn was measured. */
  readonly addedLines: number | null
  readonly deletedLines: number | null
  readonly openTurns: number
}

/** A turn with what was measured and reported at its end. */
export interface TurnSummary {
  readonly turn: Turn
  readonly note: string | null
  readonly error: string | null
  readonly usage: TokenUsage | null
  readonly items: { readonly total: number; readonly done: number } | null
  readonly coverage: Coverage | null
  readonly lost: number
  readonly measurement: TurnEvidence['measurement'] | null
  readonly counts: ChangeCounts | null
  readonly addedLines: number | null
  readonly deletedLines: number | null
}

export interface TurnLink {
  readonly attemptId: AttemptId
  readonly sessionId: CaptureSessionId
  readonly turnId: TurnId | null
  readonly agentId: string | null
  readonly link: SessionLinkSource
}

export interface CaptureReads {
  /** Those of these keys that were recorded. */
  recordedKeys(keys: readonly string[]): Promise<ReadonlySet<string>>
  session(id: string): Promise<SessionLine | null>
  /** The last session by a client's own id. */
  latest(client: string, clientSession: string): Promise<CapturedSession | null>
  /** The last session with this id of any client. */
  byClientSession(clientSession: string): Promise<CapturedSession | null>
  /** Open sessions, oldest first, at most 200, each with the time of its last event. */
  openSessions(): Promise<readonly { readonly session: CapturedSession; readonly lastAt: number }[]>
  /** Newest first. */
  sessions(
    filter: { readonly client?: string; readonly since?: number },
    request: PageRequest,
  ): Promise<Page<SessionLine>>
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
  turn(id: string): Promise<TurnSummary | null>
  /** The turns of a session, first to last. */
  turns(sessionId: string, part: ListPart): Promise<readonly TurnSummary[]>
  openTurns(sessionId: string): Promise<readonly Turn[]>
  /** Turns that were open at some time of a span and changed something or are open, oldest first, at most 500. */
  turnsBetween(from: number, to: number): Promise<readonly TurnSummary[]>
  /** Sessions with changes but without reported edits and commands; newest first, at most 20. */
  silentSessions(): Promise<readonly { readonly id: CaptureSessionId; readonly client: string }[]>
  lastNumber(sessionId: string): Promise<number>
  /** Turns in a work tree that were open at some time since, oldest first, at most 200. */
  turnsInTree(tree: string, since: number): Promise<readonly TurnSummary[]>
  /** Hook events that wait to be recorded with their turn, in order, at most 20,000. */
  hookEvents(turnIds: readonly TurnId[]): Promise<ReadonlyMap<TurnId, readonly LocatedHookEvent[]>>
  edits(turnIds: readonly TurnId[]): Promise<ReadonlyMap<TurnId, readonly HookEdit[]>>
  commands(turnIds: readonly TurnId[]): Promise<ReadonlyMap<TurnId, readonly HookCommandWindow[]>>
  evidence(turnId: string): Promise<Omit<TurnEvidence, 'changes'> | null>
  changes(turnId: string, part: ListPart): Promise<readonly TurnChange[]>
  /** The texts of prompts, where they are kept. */
  prompts(turnIds: readonly TurnId[]): Promise<ReadonlyMap<TurnId, string>>
  linksOf(attemptIds: readonly AttemptId[]): Promise<readonly TurnLink[]>
  linksIn(sessionIds: readonly CaptureSessionId[]): Promise<readonly TurnLink[]>
  /** The last state of a work tree that a turn or an attempt recorded at or before a time. */
  lastState(
    tree: string,
    before: number,
  ): Promise<{ readonly place: SnapshotLocation; readonly takenAt: number } | null>
}
