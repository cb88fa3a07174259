import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { type CallerPermissions, hasAccess } from '../../people/domain/access.ts'
import { reopenTask } from '../../review/domain/review.ts'
import type { Attempt, Task } from '../../track/domain/task.ts'
import {
  type InboxItem,
  type InboxItemAnswer,
  type InboxItemKind,
  itemKindPhrases,
  itemOutcome,
} from './inbox-item.ts'

/** The answers that a person can give to an inbox item. */
export type InboxVerb = 'approve' | 'reject' | 'answer' | 'dismiss'

/** The end of an item. */
interface InboxItemEnding {
  readonly status: 'resolved' | 'dismissed'
  readonly action: InboxItemAnswer
}

const dismissed = { status: 'dismissed', action: 'dismissed' } as const
const rejected = { status: 'dismissed', action: 'rejected' } as const
const answered = { status: 'resolved', action: 'answered' } as const
const approved = { status: 'resolved', action: 'approved' } as const

/** The possible answers to each kind of item, and its end by each. */
const endings: Readonly<Record<InboxItemKind, Readonly<Partial<Record<InboxVerb, InboxItemEnding>>>>> = {
  blocker: { answer: answered, dismiss: dismissed },
  review: {
    approve: approved,
    reject: { status: 'resolved', action: 'sent back' },
    answer: answered,
    dismiss: dismissed,
  },
  verdict: {
    approve: approved,
    reject: { status: 'resolved', action: 'sent back' },
    answer: answered,
    dismiss: dismissed,
  },
  scope: { approve: approved, reject: { status: 'dismissed', action: 'sent back' }, dismiss: dismissed },
  approval: { approve: approved, reject: rejected },
  command: { approve: approved, reject: rejected },
  stale_attempt: { approve: approved, reject: rejected, dismiss: dismissed },
  loss: { dismiss: dismissed },
}

/** Why a person may not answer an item; null if they may. `opener` is who asked it, for a question that words answer. */
export function answerDenial(
  opener: Actor | null,
  permissions: CallerPermissions | undefined,
): string | null {
  if (!permissions || hasAccess(permissions, 'maintainer')) return null
  if (opener?.kind === 'agent' && opener.person === permissions.personId) return null
  const { personName, access } = permissions
  return `It needs maintainer access, and ${personName} has ${access ?? 'none'}. A contributor answers only the questions that their own agents ask, not what Waymark asks about the work.`
}

/** The answers offered for an item, the most usual first. */
export function verbsFor(kind: InboxItemKind): readonly InboxVerb[] {
  return (['approve', 'reject', 'answer', 'dismiss'] as const).filter((verb) => endings[kind][verb])
}

export function commandFor(verb: InboxVerb, id: string): string {
  switch (verb) {
    case 'approve':
      return `waymark approve ${id}`
    case 'reject':
      return `waymark reject ${id} "<reason>"`
    case 'answer':
      return `waymark resolve ${id} "<answer>"`
    case 'dismiss':
      return `waymark resolve ${id} --dismiss`
  }
}

/** The commands that answer an item, the most usual first. Lost files are restored by their item. */
export function answerCommands(kind: InboxItemKind, id: string): readonly string[] {
  const commands = verbsFor(kind).map((verb) => commandFor(verb, id))
  return kind === 'loss' ? [restoreCommand(id), ...commands] : commands
}

/** The command that sends a person's event. A process names its events and their fields: both are quoted. */
export function decideCommand(runId: string, event: string, fields: readonly string[] = []): string {
  const members = fields.map((field) => `${JSON.stringify(field)}: …`)
  const payload = fields.length === 0 ? '' : ` --payload ${quoteShellWord(`{ ${members.join(', ')} }`)}`
  return `waymark decide ${runId} ${quoteShellWord(event)} "<reason>"${payload}`
}

export function restoreCommand(id: string): string {
  return `waymark restore ${id}`
}

/** The end of an item by an answer. Fails if its kind does not allow the answer, or if words are missing. */
export function endingOf(item: InboxItem, verb: InboxVerb, words: string | null): InboxItemEnding {
  const { id, kind } = item
  refuseClosedItem(item)
  const ending = endings[kind][verb]
  if (ending === undefined) {
    throw new Failure('REFUSED', `Cannot ${verb} ${id}: it is ${itemKindPhrases[kind]}.`, {
      reason: 'answer_not_possible',
      hint:
        kind === 'approval'
          ? 'waymark inbox shows the answers that it has.'
          : `Use one of: ${answerCommands(kind, id).join('; ')}.`,
    })
  }
  if ((verb === 'answer' || verb === 'reject') && (words === null || words.trim() === '')) {
    throw new Failure('INVALID_INPUT', `Cannot ${verb} ${id} without a text: the waiting agent reads it.`, {
      reason: 'answer_missing',
      hint: `Say why: ${commandFor(verb, id)}`,
    })
  }
  return ending
}

export function refuseClosedItem(item: InboxItem): void {
  const { id, status, answer, closedBy } = item
  if (status === 'open') return
  const outcome = itemOutcome(item)
  const words = answer === null || answer === outcome ? '' : `: ${answer.replace(/\.$/, '')}`
  throw new Failure('CONFLICT', `Inbox item ${id} was already ${outcome} by ${closedBy}${words}.`, {
    reason: 'inbox_item_closed',
    hint: 'waymark inbox lists the open items.',
  })
}

/** A person ends an item. `attempt` and `task` are those that it is about. */
export function endItem(
  item: InboxItem,
  ending: InboxItemEnding & { readonly answer: string | null },
  { attempt, task }: { readonly attempt: Attempt | null; readonly task: Task | null },
): readonly NewProjectEvent[] {
  const { id, kind, missionId, taskId } = item
  const isDecided = kind === 'command' && ending.action !== 'dismissed'
  const closed: NewProjectEvent = {
    kind: 'inbox.closed',
    itemId: id,
    missionId,
    taskId,
    ...ending,
    ...(isDecided && { decided: true as const }),
  }
  const again = ending.action === 'sent back' && task !== null ? reopenTask(task) : []
  return [closed, ...again, ...endOfAttempt(item, ending, attempt)]
}

/** Approving a stale attempt abandons it, rejecting lets it go on. Dismissing changes nothing. */
function endOfAttempt(
  { kind, openedAt }: InboxItem,
  { action, answer }: InboxItemEnding & { readonly answer: string | null },
  attempt: Attempt | null,
): readonly NewProjectEvent[] {
  if (kind !== 'stale_attempt' || attempt?.status !== 'open' || action === 'dismissed') return []
  const about = { attemptId: attempt.id, taskId: attempt.taskId, missionId: attempt.missionId }
  if (action === 'rejected') return [{ kind: 'attempt.continued', ...about }]
  // The agent acted since, so it is still working: do not abandon its attempt.
  if (attempt.lastCallAt > openedAt) return []
  return [{ kind: 'attempt.abandoned', ...about, reason: answer ?? 'A person abandoned a stale attempt.' }]
}
