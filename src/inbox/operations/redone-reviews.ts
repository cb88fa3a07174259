import { isOfChanges } from '../../gate/domain/approved-content.ts'
import type { ApprovalInput } from '../../gate/operations/run/approvals.ts'
import type { ExternalState } from '../../gate/operations/run/external-state.ts'
import { entryEvent, subjectOf } from '../../gate/operations/run/find-run.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { InboxItem } from '../domain/inbox-item.ts'

interface ApprovedRun {
  readonly loaded: LoadedRun
  readonly external: Pick<ExternalState, 'changes'>
  readonly approvals: readonly Pick<ApprovalInput, 'artifact'>[]
}

const maxItems = 100

/**
 * The open reviews that only say that sent-back work was done again, of tasks whose changes are all in what a run's
 * approval covers. A person answers what an agent asks, a contradicted task, and what came after the submission.
 */
export async function redoneReviews(
  reads: Reads,
  { loaded, external: { changes }, approvals }: ApprovedRun,
): Promise<readonly InboxItem[]> {
  const { record, definition } = loaded
  const subject = subjectOf(record)
  if (subject === null || changes === null || changes.unseen.length > 0) return []
  if (!approvals.some(({ artifact }) => isOfChanges(definition, artifact))) return []
  const { taskId, missionId } = record
  const about = taskId !== null ? { taskId } : missionId !== null ? { missionId } : {}
  const [entry, listed] = await Promise.all([
    entryEvent(reads, loaded),
    reads.inboxItems.list({ ...about, kinds: ['review'], status: 'open' }, { limit: maxItems }),
  ])
  const submittedAt = entry?.createdAt ?? record.createdAt
  const items = listed.items
    .map(({ item: { item } }) => item)
    .filter(({ openedBy, openedAt }) => openedBy === 'waymark' && openedAt <= submittedAt)
  if (items.length === 0) return []
  const ids = items.flatMap(({ attemptId }) => attemptId ?? [])
  const [attempts, cards, verdicts] = await Promise.all([
    reads.runs.attemptsOf(subject),
    reads.tasks.cards(items.flatMap((item) => item.taskId ?? [])),
    reads.tasks.lastVerdicts(ids),
  ])
  return items.filter(({ taskId: of, attemptId }) => {
    const card = cards.find(({ task }) => task.id === of)
    const own = attempts.filter((attempt) => attempt.taskId === of)
    return (
      attemptId !== null &&
      card?.task.status === 'done' &&
      card.attempt?.id === attemptId &&
      // Attempts are numbered from 1: those of another mission are in no approval of this one.
      card.attempt.number === own.length &&
      verdicts.get(attemptId)?.is !== 'contradicted'
    )
  })
}
