import { type Actor, displayName } from '../../kernel/actor.ts'
import { instant } from '../../kernel/instant.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Attempt, isStale, staleAfter } from '../../track/domain/task.ts'
import { dueItemId, type InboxItem, openInboxItem } from '../domain/inbox-item.ts'

/** Records items that are due by the clock alone, for any caller. */
export const waymark: Actor = { name: 'waymark', kind: 'agent', role: null, channel: 'cli' }

/** The items that stale attempts without one will have once they are recorded: queries show these, and record nothing. */
export async function dueItems(reads: Reads, now: number): Promise<readonly InboxItem[]> {
  const silent = await reads.tasks.silentAttempts(now)
  return silent.filter((attempt) => isStale(attempt, now)).map((attempt) => staleItem(attempt))
}

function staleItem(attempt: Attempt): InboxItem {
  const dueAt = attempt.lastCallAt + staleAfter
  const item = openInboxItem(
    { kind: 'stale_attempt', reason: reasonOf(attempt), openedBy: waymark.name },
    { ...attempt, attemptId: attempt.id },
    { at: dueAt, id: dueItemId(attempt) },
  )
  return item
}

function reasonOf(attempt: Attempt): string {
  const holder = displayName(attempt)
  return `${holder} has made no call for task ${attempt.taskId} since ${instant(attempt.lastCallAt)}. Approve to abandon the attempt, reject to let it continue.`
}
