import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { expireClaim } from '../../plan/domain/claims.ts'
import { dueItems, waymark } from './due-items.ts'

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
    const items = await dueItems(reads, now)
    return items.length > 0 || (await reads.plan.expiredClaims(now)).length > 0
  })
  if (!isDue) return 0
  return store.record({
    actor: waymark,
    at: now,
    decide: async (reads) => {
      const items = await dueItems(reads, now)
      const expired = await reads.plan.expiredClaims(now)
      const events: readonly NewProjectEvent[] = [
        ...items.map((item) => ({ kind: 'inbox.opened', item }) as const),
        ...expired.flatMap((planned) => expireClaim(planned, { at: now, ids })),
      ]
      return { events, answer: items.length }
    },
  })
}
