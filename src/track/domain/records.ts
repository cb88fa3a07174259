import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Actor } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type {
  AttemptId,
  DecisionId,
  InboxItemId,
  IssueId,
  MissionId,
  PhaseId,
  ProgressId,
  RunId,
  TaskId,
  TransactionContext,
} from '../../kernel/id.ts'
import { type Attempt, speakerOf, type Task } from './task.ts'

export const decisionCategories = [
  'architecture',
  'library_choice',
  'trade_off',
  'workaround',
  'other',
] as const
export type DecisionCategory = (typeof decisionCategories)[number]

export const issueTypes = [
  'documentation_gap',
  'bug_encountered',
  'dependency_conflict',
  'unclear_requirement',
  'other',
] as const
export type IssueType = (typeof issueTypes)[number]

/** The attempt, task, phase and mission that a record belongs to. */
export interface RecordLocation {
  readonly taskId: TaskId
  readonly attemptId: AttemptId | null
  readonly missionId: MissionId | null
  readonly phaseId: PhaseId | null
  /** The author; null in early records. */
  readonly agentName: string | null
}

export interface Decision extends RecordLocation {
  readonly id: DecisionId
  readonly category: DecisionCategory
  readonly question: string
  readonly optionsConsidered: readonly string[]
  readonly chosen: string
  readonly reasoning: string
  readonly tradeOffs: string | null
  readonly createdAt: number
}

/** A problem that an agent logged. It is a blocker while its inbox item is open. */
export interface Issue extends RecordLocation {
  readonly id: IssueId
  readonly type: IssueType
  readonly description: string
  /** Empty for a question. */
  readonly resolution: string
  readonly requiresHumanReview: boolean
  readonly createdAt: number
}

/** Progress logged with `log_milestone`: a step, not a goal with a criterion. */
export interface Progress extends RecordLocation {
  readonly id: ProgressId
  readonly message: string
  /** Percent, 0 to 100. */
  readonly progress: number | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly createdAt: number
}

export const itemKinds = ['blocker', 'review', 'scope', 'approval', 'command', 'stale_attempt'] as const
export type InboxItemKind = (typeof itemKinds)[number]

/** A person's answer in one word. */
export const itemAnswers = ['answered', 'approved', 'accepted', 'sent back', 'rejected', 'dismissed'] as const
export type InboxItemAnswer = (typeof itemAnswers)[number]

/** Something that needs a person: its reason, and how it was closed. */
export interface InboxItem {
  readonly id: InboxItemId
  readonly kind: InboxItemKind
  readonly missionId: MissionId | null
  readonly phaseId: PhaseId | null
  readonly taskId: TaskId | null
  readonly attemptId: AttemptId | null
  readonly issueId: IssueId | null
  readonly runId: RunId | null
  /** The decision that a run needs; null for the other kinds of inbox items. */
  readonly request: InboxItemRequest | null
  readonly reason: string
  /** The paths a scope item is about; accepted when it is resolved. */
  readonly paths: readonly string[]
  readonly openedBy: string
  readonly openedAt: number
  readonly status: 'open' | 'resolved' | 'dismissed'
  readonly answer: string | null
  /** Null while open, when closed automatically, and where it was not recorded. */
  readonly action: InboxItemAnswer | null
  readonly closedBy: string | null
  readonly closedAt: number | null
}

export type InboxItemRequest =
  /** The possible events of a run in this state, and the approvals that its guards need. */
  | {
      readonly kind: 'decision'
      readonly state: string
      readonly revision: number
      readonly events: readonly string[]
      readonly approvals: readonly { readonly role: string; readonly of: string | null }[]
    }
  /** Whether changes that block guards are accepted, exactly as they were when the item was opened. */
  | {
      readonly kind: 'changes'
      readonly state: string
      readonly revision: number
      readonly event: string
      readonly guards: readonly {
        readonly name: string
        /** The guard, as its process words it. */
        readonly guard: string
        readonly reason: string
        /** Hash of the findings against it, with the contents. */
        readonly content: string
      }[]
      /** Hash of all guards together. */
      readonly content: string
      /** Contents on disk and in git; only the first 200 files. */
      readonly files: readonly {
        readonly path: string
        readonly disk: string | null
        readonly git: string | null
      }[]
      /** The machine that has the files, if it is not the record's own. */
      readonly machine?: string
    }
  /** Whether the server may run a command: `hash` covers the line, the folder and the pinned files. */
  | {
      readonly kind: 'command'
      readonly run: string
      readonly folder: string
      readonly pinned: readonly string[]
      readonly hash: string
      /** The machine that runs it, if it is not the record's own. */
      readonly machine?: string
      /** The pinned files with their SHA-256 at that time; null for a missing file. Absent in older items. */
      readonly files?: readonly { readonly path: string; readonly sha256: string | null }[]
      /** The last approval of this line in this folder, and the changes since; null where it is unknown. */
      readonly before?: {
        readonly hash: string
        readonly author: string
        readonly createdAt: number
        readonly changed: readonly string[] | null
        /** Unified diff, as far as the texts are stored. */
        readonly diff: string
      } | null
    }

export type CommandRequest = Extract<InboxItemRequest, { readonly kind: 'command' }>
export type ChangesRequest = Extract<InboxItemRequest, { readonly kind: 'changes' }>

/** An issue; with `requires_human_review` it is a blocker until a person resolves its inbox item. */
export function logIssue(
  reported: Pick<Issue, 'type' | 'description' | 'resolution' | 'requiresHumanReview'>,
  location: RecordLocation & { readonly agentName: string },
  setting: TransactionContext,
): { readonly issue: Issue; readonly events: readonly NewProjectEvent[] } {
  const issue: Issue = { id: setting.ids.next('issue'), ...location, ...reported, createdAt: setting.at }
  if (!issue.requiresHumanReview) return { issue, events: [{ kind: 'issue.logged', issue }] }
  const item: InboxItem = {
    ...openInboxItem(
      { kind: 'blocker', reason: issue.description, openedBy: location.agentName },
      location,
      setting,
    ),
    issueId: issue.id,
  }
  return {
    issue,
    events: [
      { kind: 'issue.logged', issue },
      { kind: 'inbox.opened', item },
    ],
  }
}

/** Creates an open inbox item. */
export function openInboxItem(
  about: Pick<InboxItem, 'kind' | 'reason' | 'openedBy'>,
  location: Pick<InboxItem, 'missionId' | 'phaseId' | 'taskId' | 'attemptId'>,
  setting: TransactionContext | { readonly at: number; readonly id: InboxItemId },
): InboxItem {
  return {
    id: 'id' in setting ? setting.id : setting.ids.next('item'),
    kind: about.kind,
    missionId: location.missionId,
    phaseId: location.phaseId,
    taskId: location.taskId,
    attemptId: location.attemptId,
    issueId: null,
    runId: null,
    request: null,
    reason: about.reason,
    paths: [],
    openedBy: about.openedBy,
    openedAt: setting.at,
    status: 'open',
    answer: null,
    action: null,
    closedBy: null,
    closedAt: null,
  }
}

const half = 6
const halfCount = 36n ** BigInt(half)

/** The id of a stale attempt's future item: reproducible, and different after each call. */
export function dueItemId({ id, lastCallAt }: Pick<Attempt, 'id' | 'lastCallAt'>): InboxItemId {
  const [upper, lower] = [id.slice(-2 * half, -half), id.slice(-half)].map((digits) => numberIn36(digits))
  const own = (upper ?? 0n) * halfCount + (lower ?? 0n) + BigInt(lastCallAt)
  const digits = (own % halfCount ** 2n).toString(36).padStart(2 * half, '0')
  return `h-${digits}` as InboxItemId
}

function numberIn36(digits: string): bigint {
  return BigInt(Number.parseInt(digits, 36) || 0)
}

/**
 * Where a record about a task belongs: the attempt it names, else the open one, else the task alone.
 * A closed attempt is refused, so that a late agent cannot speak for its successor.
 */
export function placeRecord(
  task: Task,
  attempts: { readonly open: Attempt | null; readonly named: Attempt | null; readonly caller: Actor },
): RecordLocation & { readonly agentName: string } {
  const { open, named, caller } = attempts
  if (named) assertOpen(task, named)
  const attempt = named ?? open
  return {
    taskId: task.id,
    attemptId: attempt?.id ?? null,
    missionId: attempt ? attempt.missionId : task.missionId,
    phaseId: attempt ? attempt.phaseId : task.phaseId,
    agentName: speakerOf(attempt, caller),
  }
}

export function assertOpen(task: Task, attempt: Attempt): void {
  if (attempt.taskId !== task.id) {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} is an attempt at task ${attempt.taskId}, not at ${task.id}.`,
      { reason: 'attempt_of_other_task', hint: 'Omit attempt_id to use the open attempt of the task.' },
    )
  }
  if (attempt.status !== 'open') {
    throw new Failure('CONFLICT', `Attempt ${attempt.id} is closed (${attempt.status}).`, {
      reason: 'attempt_closed',
      hint: hintOf`Omit attempt_id, or start again with ${callTo('start_task', { planned_task_id: task.id })}.`,
    })
  }
}
