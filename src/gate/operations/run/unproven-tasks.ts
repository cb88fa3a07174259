import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import type { TransactionContext } from '../../../kernel/id.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { verdictQuestion } from '../../../track/domain/completion.ts'
import type { NamedGuard } from '../../domain/definition.ts'
import type { Observations } from '../../domain/evidence.ts'
import type { MissingGuard } from '../../domain/expression.ts'

interface UnprovenContext {
  readonly guards: readonly NamedGuard[]
  readonly missing: readonly MissingGuard[]
  readonly observed: Pick<Observations, 'tasks'>
}

/**
 * The items that ask a person about each task that is not proven, once an event waits for nothing else. A person who
 * answered one is not asked again: their answer accepts the task, or sends it back.
 */
export async function acceptanceQuestions(
  reads: Reads,
  { guards, missing, observed }: UnprovenContext,
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const isUnchanged = observed.tasks?.some(({ doneAgain }) => doneAgain === 'unchanged') ?? false
  const answerable = new Set(
    guards.flatMap(({ name, guard }) =>
      guard.type === 'verdict' || (isUnchanged && guard.type === 'task' && guard.condition === 'done_again')
        ? [name]
        : [],
    ),
  )
  if (missing.length === 0 || !missing.every(({ name }) => answerable.has(name))) return []
  const unproven = (observed.tasks ?? []).filter(
    ({ phase, done, verdict, acceptedBy }) =>
      phase === null && done && verdict !== 'proven' && acceptedBy === undefined,
  )
  const cards = await reads.tasks.cards(unproven.slice(0, maxAsked).map(({ id }) => id))
  const attempts = cards.flatMap(({ attempt }) => attempt ?? [])
  const ids = attempts.map(({ id }) => id)
  const [verdicts, items] = await Promise.all([
    reads.tasks.lastVerdicts(ids),
    reads.inboxItems.ofAttempts(ids),
  ])
  const asked = new Set(
    items.flatMap(({ kind, status, attemptId }) =>
      kind === 'verdict' && status === 'open' ? [attemptId] : [],
    ),
  )
  return attempts.flatMap((attempt): readonly NewProjectEvent[] => {
    const verdict = verdicts.get(attempt.id)
    if (verdict === undefined || asked.has(attempt.id)) return []
    // Its item asks about the command; the check runs after that.
    if (verdict.reasons.some(({ rule }) => rule === 'check_not_approved')) return []
    return [{ kind: 'inbox.opened', item: verdictQuestion(verdict, attempt, setting) }]
  })
}

/** The next refusal asks about the others. */
const maxAsked = 50
