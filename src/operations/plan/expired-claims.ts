import type { Setting } from '../../domain/id.ts'
import { instant } from '../../domain/instant.ts'
import { endClaim } from '../../domain/plan/claim-task.ts'
import type { PlanHappening } from '../../domain/plan/happening.ts'
import type { Claim, Note, PlannedTask } from '../../domain/plan/plan.ts'
import type { Reads } from '../../ports/store.ts'
import type { Handling } from '../context.ts'
import { whereWritable } from '../where-writable.ts'

/** Looks at a plan in which no claim has run out. Writes only when one had. */
export async function viewPlan<Answer>(
  handling: Handling,
  look: (reads: Reads) => Promise<Answer>,
): Promise<Answer> {
  const { store, clock } = handling
  const seen = await store.view(async (reads) => {
    const expired = await reads.plan.expiredClaims(clock.now())
    return expired.length > 0 ? null : { answer: await look(reads) }
  })
  if (seen !== null) return seen.answer
  await whereWritable(() =>
    handling.recordAside(async (reads, setting) => {
      const expired = await reads.plan.expiredClaims(setting.at)
      return { happenings: expired.flatMap((planned) => expiryOf(planned, setting)), answer: null }
    }),
  )
  return store.view(look)
}

/** The end of a claim that ran out, with a note that says whose it was. */
export function expiryOf({ task, claim }: PlannedTask, setting: Setting): readonly PlanHappening[] {
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
