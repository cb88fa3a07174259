import type { Setting } from '../../domain/id.ts'
import { instant } from '../../domain/instant.ts'
import { endClaim } from '../../domain/plan/claim-task.ts'
import type { PlanHappening } from '../../domain/plan/happening.ts'
import type { Claim, Note, PlannedTask } from '../../domain/plan/plan.ts'
import type { Handling } from '../context.ts'

/** Ends the claims that ran out, each with a note. Writes only when there is one. */
export async function noticeExpiredClaims({ store, clock, record }: Handling): Promise<number> {
  const expired = await store.view(({ plan }) => plan.expiredClaims(clock.now()))
  if (expired.length === 0) return 0
  return record(async (reads, setting) => {
    const still = await reads.plan.expiredClaims(setting.at)
    return { happenings: still.flatMap((planned) => expiryOf(planned, setting)), answer: still.length }
  })
}

function expiryOf({ task, claim }: PlannedTask, setting: Setting): readonly PlanHappening[] {
  if (claim === null) return []
  const note: Note = {
    id: setting.ids.next('note'),
    taskId: task.id,
    content: expiryWords(claim),
    kind: 'progress',
    role: null,
    author: 'waymark',
    createdAt: setting.at,
  }
  return [...endClaim(task.id, claim, 'expired'), { kind: 'note.added', note }]
}

function expiryWords({ agent, claimedAt, expiresAt }: Claim): string {
  const until = expiresAt === null ? '' : ` It ran out at ${instant(expiresAt)}.`
  return `The claim of ${agent}, made at ${instant(claimedAt)}, was not followed by an attempt.${until}`
}
