import type {
  AttemptId,
  InboxItemId,
  IssueId,
  MissionId,
  PhaseId,
  RunId,
  TaskId,
  TransactionContext,
} from '../../kernel/id.ts'
import type { Attempt } from '../../track/domain/task.ts'

export const itemKinds = [
  'blocker',
  'review',
  'verdict',
  'scope',
  'approval',
  'command',
  'stale_attempt',
  'loss',
] as const
export type InboxItemKind = (typeof itemKinds)[number]

/** What an item is, inside a sentence. */
export const itemKindPhrases = {
  blocker: 'a blocker',
  review: 'a review',
  verdict: 'a verdict about a completion',
  scope: 'a question about files out of scope',
  approval: 'a decision about a run',
  command: 'a command to approve',
  stale_attempt: 'a stale attempt',
  loss: 'a question about lost files',
} as const satisfies Record<InboxItemKind, string>

/** Agents at work and gates wait for these: they come first. */
export const urgentItemKinds = ['blocker', 'approval', 'command'] as const satisfies readonly InboxItemKind[]

/** A person's answer in one word. */
export const itemAnswers = ['answered', 'approved', 'sent back', 'rejected', 'dismissed', 'restored'] as const
export type InboxItemAnswer = (typeof itemAnswers)[number]

/** How an inbox item ended, in the one word that every text uses. */
export function itemOutcome({
  status,
  action,
}: {
  readonly status: InboxItem['status']
  readonly action?: InboxItemAnswer | null | undefined
}): string {
  return action ?? (status === 'resolved' ? 'closed' : status)
}

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
      readonly approvals: readonly { readonly role: string; readonly artifact: string | null }[]
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
      readonly files?: readonly {
        readonly path: string
        readonly sha256: string | null
        /** The text of a script that the command leads to. */
        readonly text?: string
      }[]
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

/** The kinds of items that a review of the work answers; the others need separate answers. */
export const itemKindsClosedByReview = [
  'review',
  'verdict',
  'scope',
  'approval',
] as const satisfies readonly InboxItemKind[]

/** Whether an open item makes its task one to review: not a blocker, nor a command, whose work no review answers. */
export function isToReview(kind: InboxItemKind): boolean {
  return itemKindsClosedByReview.some((one) => one === kind)
}

/** Behind a number of done tasks: how many of them wait for a person. */
export function needsYouText(waiting: number): string {
  return waiting === 0 ? '' : ` (needs you: ${waiting})`
}
