import type { Happening } from '../fact.ts'
import type { Hold } from './records.ts'
import type { Attempt } from './task.ts'

/** A hold about an attempt's silence ends with the attempt: there is nothing left to decide. */
export function endSilence(holds: readonly Hold[], answer: string): readonly Happening[] {
  return holds
    .filter((hold) => hold.kind === 'stale_attempt' && hold.status === 'open')
    .map((hold) => ({
      kind: 'hold.closed',
      holdId: hold.id,
      missionId: hold.missionId,
      taskId: hold.taskId,
      status: 'resolved',
      answer,
    }))
}

/** Gives an attempt up, and whatever hold waits about its silence. `holds` are the attempt's own. */
export function abandon(attempt: Attempt, holds: readonly Hold[], reason: string): readonly Happening[] {
  return [
    ...endSilence(holds, reason),
    {
      kind: 'attempt.abandoned',
      attemptId: attempt.id,
      taskId: attempt.taskId,
      missionId: attempt.missionId,
      reason,
    },
  ]
}
