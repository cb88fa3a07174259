import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { type Actor, displayName } from '../../kernel/actor.ts'
import { instant } from '../../kernel/instant.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { expiryOf } from '../../plan/operations/read-tasks.ts'
import type { Reads } from '../../store/ports/store.ts'
import { dueItemId, type InboxItem, openInboxItem } from '../../track/domain/records.ts'
import { type Attempt, isStale, staleAfter } from '../../track/domain/task.ts'

/** Records what is due by the clock alone, whoever calls. */
const waymark: Actor = { name: 'waymark', kind: 'agent', role: null, channel: 'cli' }

/** The items that stale attempts without one will have once they are recorded: queries show these, and record nothing. */
export async function dueItems(reads: Reads, now: number): Promise<readonly InboxItem[]> {
  const silent = await reads.tasks.silentAttempts(now - staleAfter)
  return silent.filter((attempt) => isStale(attempt, now)).map((attempt) => staleItem(attempt))
}

function staleItem(attempt: Attempt): InboxItem {
  const at = attempt.lastCallAt + staleAfter
  const hold = openInboxItem(
    { kind: 'stale_attempt', reason: reasonOf(attempt), openedBy: waymark.name },
    { ...attempt, attemptId: attempt.id },
    { at, id: dueItemId(attempt) },
  )
  return hold
}

/**
 * Opens an inbox item for each stale attempt and ends claims that ran out. Answers how many items it opened. Called by the
 * server's own job, and before a person answers an item.
 */
export async function recordDue({
  store,
  clock,
  ids,
}: Pick<Context, 'store' | 'clock' | 'ids'>): Promise<number> {
  const now = clock.now()
  const isDue = await store.view(async (reads) => {
    const holds = await dueItems(reads, now)
    return holds.length > 0 || (await reads.plan.expiredClaims(now)).length > 0
  })
  if (!isDue) return 0
  return store.record({
    actor: waymark,
    at: now,
    decide: async (reads) => {
      const holds = await dueItems(reads, now)
      const expired = await reads.plan.expiredClaims(now)
      const facts: readonly NewProjectEvent[] = [
        ...holds.map((hold) => ({ kind: 'hold.opened', hold }) as const),
        ...expired.flatMap((planned) => expiryOf(planned, { at: now, ids })),
      ]
      return { facts, answer: holds.length }
    },
  })
}

function reasonOf(attempt: Attempt): string {
  const holder = displayName(attempt)
  return `No call from ${holder} about task ${attempt.taskId} since ${instant(attempt.lastCallAt)}. Resolve to give the attempt up, dismiss to let it go on.`
}
