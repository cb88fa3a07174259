import { instant } from '../../domain/instant.ts'
import { resolveHold } from '../../domain/track/resolve-hold.ts'
import type { Handling } from '../context.ts'
import { findHold } from '../decision/find-subject.ts'

/** Ends a hold as a person decided. Fails with CONFLICT when it has ended already. */
export function closeHold(
  { record, actor }: Handling,
  id: string,
  ending: { readonly status: 'resolved' | 'dismissed'; readonly answer: string | null },
) {
  return record(async (reads, setting) => {
    const hold = await findHold(reads, id)
    const attempt = hold.attemptId === null ? null : await reads.tasks.attempt(hold.attemptId)
    return {
      happenings: resolveHold(hold, ending, attempt),
      answer: {
        hold_id: hold.id,
        kind: hold.kind,
        ...ending,
        by: actor.name,
        at: instant(setting.at),
      },
    }
  })
}
