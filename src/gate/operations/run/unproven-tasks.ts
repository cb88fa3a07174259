import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import { type InboxItem, openInboxItem } from '../../../inbox/domain/inbox-item.ts'
import type { TransactionContext } from '../../../kernel/id.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { verdictQuestion } from '../../../track/domain/completion.ts'
import type { Attempt } from '../../../track/domain/task.ts'
import type { NamedGuard } from '../../domain/definition.ts'
import type { Observations, ObservedTask } from '../../domain/evidence.ts'
import type { MissingGuard } from '../../domain/expression.ts'
import type { Guard } from '../../domain/guards/guard.ts'

interface UnprovenContext {
  readonly guards: readonly NamedGuard[]
  readonly missing: readonly MissingGuard[]
  readonly observed: Pick<Observations, 'tasks'>
}

/**
 * The items that ask a person about each task that is not proven, or that no approval shows, once an event waits for nothing else. A person who
 * answered one is not asked again: their answer accepts the task, or sends it back.
 */
export async function acceptanceQuestions(
  reads: Reads,
  { guards, missing, observed }: UnprovenContext,
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const tasks = (observed.tasks ?? []).filter(({ phase, done }) => phase === null && done)
  const isUnchanged = tasks.some(({ doneAgain }) => doneAgain === 'unchanged')
  const open = new Set(missing.map(({ name }) => name))
  const asking = guards.flatMap(({ name, guard }) => (open.has(name) ? [guard] : []))
  const isAnswerable = (guard: Guard) =>
    guard.type === 'verdict' ||
    (guard.type === 'task' &&
      (guard.condition === 'approved' || (guard.condition === 'done_again' && isUnchanged)))
  if (asking.length === 0 || asking.length < open.size || !asking.every(isAnswerable)) return []
  const asksProof = asking.some(({ type }) => type === 'verdict')
  const asksApproval = asking.some((guard) => guard.type === 'task' && guard.condition === 'approved')
  const isUnproven = ({ verdict, acceptedBy }: ObservedTask) =>
    asksProof && verdict !== 'proven' && acceptedBy === undefined
  const unproven = new Set(tasks.filter(isUnproven).map(({ id }) => id))
  const asked = tasks.filter(({ id, isUnseen }) => unproven.has(id) || (asksApproval && isUnseen))
  const cards = await reads.tasks.cards(asked.slice(0, maxAsked).map(({ id }) => id))
  const attempts = cards.flatMap(({ attempt }) => attempt ?? [])
  const ids = attempts.map(({ id }) => id)
  const [verdicts, items] = await Promise.all([
    reads.tasks.lastVerdicts(ids),
    reads.inboxItems.ofAttempts(ids),
  ])
  const isOpen = (attempt: Attempt, kinds: readonly string[]) =>
    items.some((item) => item.status === 'open' && item.attemptId === attempt.id && kinds.includes(item.kind))
  return attempts.flatMap((attempt): readonly NewProjectEvent[] => {
    const verdict = verdicts.get(attempt.id)
    if (!unproven.has(attempt.taskId)) {
      return isOpen(attempt, ['verdict', 'review'])
        ? []
        : [{ kind: 'inbox.opened', item: unseenQuestion(attempt, setting) }]
    }
    if (verdict === undefined || isOpen(attempt, ['verdict'])) return []
    // Its item asks about the command; the check runs after that.
    if (verdict.reasons.some(({ rule }) => rule === 'check_not_approved')) return []
    return [{ kind: 'inbox.opened', item: verdictQuestion(verdict, attempt, setting) }]
  })
}

function unseenQuestion(attempt: Attempt, setting: TransactionContext): InboxItem {
  const reason = 'It was completed after the approval, which does not show it.'
  const about = { kind: 'review' as const, reason, openedBy: 'waymark' }
  return openInboxItem(about, { ...attempt, attemptId: attempt.id }, setting)
}

/** The next refusal asks about the others. */
const maxAsked = 50
