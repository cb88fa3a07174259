import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { gateSettingsOf } from '../../inbox/domain/inbox-gate.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import type { Reads } from '../../store/ports/store.ts'
import { changeVerdict } from '../domain/completion.ts'
import { type Attempt, taskOutcomes } from '../domain/task.ts'
import { type CheckFact, isSameVerdict, type Verdict, withCheckResults } from '../domain/verdict.ts'

/** A verdict that later results of checks changed, and the events that record it. */
export interface ChangedVerdict {
  readonly verdict: Verdict
  readonly events: readonly NewProjectEvent[]
}

/**
 * Judges a completion again with later results of its checks, if they ran on its content and no other attempt replaced
 * it. Null where nothing changes.
 */
export async function judgeAgain(
  reads: Reads,
  attempt: Attempt,
  { content, checks }: { readonly content: string | null; readonly checks: readonly CheckFact[] },
  setting: TransactionContext,
): Promise<ChangedVerdict | null> {
  const { tasks, inboxItems, runs } = reads
  const status = taskOutcomes.find((one) => one === attempt.status)
  const [last, verdicts] = await Promise.all([tasks.lastAttempt(attempt.taskId), tasks.verdicts(attempt.id)])
  const before = verdicts.at(-1)?.verdict
  if (status === undefined || last?.id !== attempt.id || before == null) return null
  if (content === null || before.content !== content) return null
  const verdict = withCheckResults(before, { status, checks })
  if (isSameVerdict(verdict, before)) return null
  const [items, settings] = await Promise.all([inboxItems.ofTask(attempt.taskId), runs.settings()])
  const events = changeVerdict(
    verdict,
    {
      attempt,
      before,
      verdictItems: items.filter(({ kind }) => kind === 'verdict'),
      completion: gateSettingsOf(settings).completion,
    },
    setting,
  )
  return { verdict, events }
}
