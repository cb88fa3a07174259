import { type Actor, displayName } from '../../kernel/actor.ts'
import { instant } from '../../kernel/instant.ts'
import { lostAccess } from '../../people/operations/lost-access.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Attempt, isStale, staleAfter } from '../../track/domain/task.ts'
import { dueItemId, type InboxItem, openInboxItem } from '../domain/inbox-item.ts'

/** Records items that are due by the clock alone, for any caller. */
export const waymark: Actor = { name: 'waymark', kind: 'agent', role: null, channel: 'cli' }

/**
 * The items that stale attempts without one, and those of callers without access, will have once they are recorded:
 * queries show these, and record nothing.
 */
export async function dueItems(reads: Reads, now: number): Promise<readonly InboxItem[]> {
  const silent = await reads.tasks.silentAttempts(now)
  const items = await Promise.all(
    silent.map(async (attempt): Promise<readonly InboxItem[]> => {
      if (isStale(attempt, now))
        return [staleItem(attempt, attempt.lastCallAt + staleAfter, silence(attempt))]
      const lost = await lostAccess(reads, attempt.actor, now)
      const reason = `${displayName(attempt)} can make no more calls for task ${attempt.taskId}: ${lost}`
      return lost === null ? [] : [staleItem(attempt, Math.max(now, attempt.lastCallAt), reason)]
    }),
  )
  return items.flat()
}

function staleItem(attempt: Attempt, dueAt: number, reason: string): InboxItem {
  const ways = 'Approve to abandon the attempt, reject to let it continue.'
  return openInboxItem(
    { kind: 'stale_attempt', reason: `${reason}. ${ways}`, openedBy: waymark.name },
    { ...attempt, attemptId: attempt.id },
    { at: dueAt, id: dueItemId(attempt) },
  )
}

function silence(attempt: Attempt): string {
  return `${displayName(attempt)} has made no call for task ${attempt.taskId} since ${instant(attempt.lastCallAt)}`
}
