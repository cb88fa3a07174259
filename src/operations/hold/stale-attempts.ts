import { instant } from '../../domain/instant.ts'
import { openHold } from '../../domain/track/log-issue.ts'
import { type Attempt, isStale, staleAfter } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import type { Handling } from '../context.ts'

/** Opens a hold for each attempt that nobody spoke of for two hours, and answers how many. Writes only when there is one. */
export async function noticeStaleAttempts({ store, clock, recordAside }: Handling): Promise<number> {
  const silent = (reads: Reads) => withoutHold(reads, clock.now())
  if ((await store.view(silent)).length === 0) return 0
  return recordAside(async (reads, setting) => {
    const stale = await silent(reads)
    return {
      happenings: stale.map((attempt) => ({
        kind: 'hold.opened',
        hold: openHold(
          { kind: 'stale_attempt', reason: reasonOf(attempt), openedBy: 'waymark' },
          { ...attempt, attemptId: attempt.id },
          setting,
        ),
      })),
      answer: stale.length,
    }
  })
}

async function withoutHold(reads: Reads, now: number): Promise<readonly Attempt[]> {
  const silent = await reads.tasks.silentAttempts(now - staleAfter)
  return silent.filter((attempt) => isStale(attempt, now))
}

function reasonOf(attempt: Attempt): string {
  const holder = attempt.agentName ?? attempt.actor.name
  return `No call from ${holder} about task ${attempt.taskId} since ${instant(attempt.lastCallAt)}. Resolve to give the attempt up, dismiss to let it go on.`
}
