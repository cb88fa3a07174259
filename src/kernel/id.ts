declare const brand: unique symbol

/** A string that names one kind of entity: `completeTask(missionId)` does not compile. */
type Id<Kind extends string> = string & { readonly [brand]: Kind }

export type ProjectId = Id<'project'>
export type MissionId = Id<'mission'>
export type PhaseId = Id<'phase'>
export type MilestoneId = Id<'milestone'>
export type TaskId = Id<'task'>
export type AttemptId = Id<'attempt'>
export type DecisionId = Id<'decision'>
export type IssueId = Id<'issue'>
export type ProgressId = Id<'progress'>
export type InboxItemId = Id<'item'>
export type NoteId = Id<'note'>
/** `run-` and a UUID of version 7. */
export type RunId = Id<'run'>
export type RunEventId = Id<'run event'>
export type CommandResultId = Id<'command result'>
export type PersonId = Id<'person'>
export type TokenId = Id<'token'>
export type SessionId = Id<'session'>
export type NotificationId = Id<'notification'>
export type CaptureSessionId = Id<'captured session'>
export type TurnId = Id<'turn'>
/** A snapshot of a work tree that a command took before it changed files. */
export type SnapshotId = Id<'snapshot'>
export type ReviewId = Id<'review'>
export type ReviewCommentId = Id<'review comment'>
export type ReviewReplyId = Id<'review reply'>

/** The prefix of each entity's ids, so that an id shows its kind. */
export const idPrefixes = {
  project: 'p',
  mission: 'm',
  workflow: 'w',
  phase: 'ph',
  task: 't',
  attempt: 'a',
  decision: 'd',
  issue: 'i',
  progress: 'pr',
  item: 'h',
  note: 'n',
  claim: 'c',
  run: 'run',
  runEvent: 'evt',
  commandResult: 'cmd',
  person: 'u',
  token: 'tk',
  session: 's',
  notification: 'nt',
  captureSession: 'cs',
  turn: 'tn',
  snapshot: 'sn',
  review: 'rv',
  reviewComment: 'rc',
  reviewReply: 'rr',
} as const

export type IdKind = keyof typeof idPrefixes

interface IdOfKind {
  readonly project: ProjectId
  readonly mission: MissionId
  readonly workflow: MissionId
  readonly phase: PhaseId
  readonly task: TaskId
  readonly attempt: AttemptId
  readonly decision: DecisionId
  readonly issue: IssueId
  readonly progress: ProgressId
  readonly item: InboxItemId
  readonly note: NoteId
  /** A claim's fencing token. */
  readonly claim: string
  readonly run: RunId
  readonly runEvent: RunEventId
  readonly commandResult: CommandResultId
  readonly person: PersonId
  readonly token: TokenId
  readonly session: SessionId
  readonly notification: NotificationId
  readonly captureSession: CaptureSessionId
  readonly turn: TurnId
  readonly snapshot: SnapshotId
  readonly review: ReviewId
  readonly reviewComment: ReviewCommentId
  readonly reviewReply: ReviewReplyId
}

/** Creates ids. Randomness is an input, so that the domain stays pure. */
export interface IdSource {
  next<K extends IdKind>(kind: K): IdOfKind[K]
  /** The part of a secret id that may be recorded. */
  hash(secret: string): string
}

/** The outside input of a decision: the time, the ids, and the actor. */
export interface TransactionContext {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly ids: IdSource
}
