import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import {
  holdKinds,
  type InboxItem,
  type InboxItemAnswer,
  type InboxItemKind,
} from '../../track/domain/records.ts'
import type { Attempt } from '../../track/domain/task.ts'

/** What of the open holds about a task holds up what depends on it, by the word that the project set. */
const holding = {
  blockers: ['blocker', 'review'],
  all: holdKinds,
  none: [],
} as const satisfies Record<string, readonly InboxItemKind[]>

export type InboxGateMode = keyof typeof holding

/** The default where nothing is set, or a word of a later version. */
export function inboxGateOf(setting: string | undefined): InboxGateMode {
  return setting === 'all' || setting === 'none' ? setting : 'blockers'
}

export function gatingItemKinds(setting: string | undefined): readonly InboxItemKind[] {
  return holding[inboxGateOf(setting)]
}

export interface InboxItemClosing {
  readonly status: 'resolved' | 'dismissed'
  readonly answer: string | null
  readonly said: InboxItemAnswer
  /** It is a yes or a no to what is asked, and not only the end of the question. */
  readonly isDecision?: boolean
}

/** A person ends a hold. Resolving a stale attempt's hold abandons the attempt; dismissing it lets the attempt go on. */
export function resolveItem(
  hold: InboxItem,
  ending: InboxItemClosing,
  attempt: Attempt | null,
): readonly NewProjectEvent[] {
  if (hold.status !== 'open') {
    const when = hold.closedAt === null ? '' : ` at ${instant(hold.closedAt)}`
    throw new Failure('CONFLICT', `Hold ${hold.id} was already ${hold.status} by ${hold.closedBy}${when}.`, {
      reason: 'inbox_item_closed',
      hint: 'waymark inbox lists the holds that are open.',
    })
  }
  const closed: NewProjectEvent = {
    kind: 'hold.closed',
    holdId: hold.id,
    missionId: hold.missionId,
    taskId: hold.taskId,
    status: ending.status,
    answer: ending.answer,
    said: ending.said,
    ...(ending.isDecision && hold.kind === 'command' && { decided: true }),
  }
  if (hold.kind !== 'stale_attempt' || attempt?.status !== 'open') return [closed]
  const about = { attemptId: attempt.id, taskId: attempt.taskId, missionId: attempt.missionId }
  if (ending.status === 'dismissed') return [closed, { kind: 'attempt.continued', ...about }]
  // Who has spoken since is not silent: giving the attempt up now would take it from someone at work.
  if (attempt.lastCallAt > hold.openedAt) return [closed]
  const reason = ending.answer ?? 'A person gave up a stale attempt.'
  return [closed, { kind: 'attempt.abandoned', ...about, reason }]
}
