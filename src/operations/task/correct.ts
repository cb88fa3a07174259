import { instant } from '../../domain/instant.ts'
import { correctAttempt } from '../../domain/track/correct-attempt.ts'
import { waitingOf } from '../../domain/track/holds-gate.ts'
import type { Handling } from '../context.ts'
import { findAttempt, findTask } from '../find/entities.ts'
import { completionShape } from './completion-answer.ts'
import { waitingFor } from './completion-situation.ts'

/** A later statement about an attempt that ended: what was measured and said then stays as it is. */
export function correct(
  { record, actor }: Handling,
  said: {
    readonly task_id: string
    readonly attempt_id?: string | undefined
    readonly correction: string
    readonly status?: unknown
    readonly outcome?: unknown
  },
) {
  return record(async (reads, setting) => {
    const task = await findTask(reads, said.task_id)
    const attempt =
      said.attempt_id === undefined
        ? await reads.tasks.lastAttempt(task.id)
        : await findAttempt(reads, said.attempt_id)
    const before = attempt === null ? [] : await reads.tasks.corrections(attempt.id)
    const corrected = correctAttempt({ task, attempt, before }, { text: said.correction, actor }, setting)
    const end = await reads.tasks.end(corrected.attempt.id)
    const ignored = said.status !== undefined || said.outcome !== undefined
    return {
      happenings: corrected.happenings,
      answer: completionShape.parse({
        ...end?.answer,
        settled: undefined,
        waits_for: (await waitingFor(reads, task.id)).map(waitingOf),
        corrected: true,
        correction: { text: said.correction, at: instant(corrected.at) },
        ...(ignored && { note: 'status and outcome stay as they were: a correction stands beside them.' }),
      }),
    }
  })
}
