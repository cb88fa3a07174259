import { excerpt } from '../../../kernel/text.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { completedSince } from '../../../track/domain/task.ts'
import { isSentBack } from '../../domain/decisions.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { RunRecord } from '../../domain/run.ts'
import { subjectOf } from './find-run.ts'

/** The last move, if a person's words sent the run back and no task was done since. */
export async function sentBackBy({ runs }: Reads, record: RunRecord, definition: ProcessDefinition) {
  const last = await runs.eventAt(record.id, record.revision)
  if (last?.kind !== 'event' || !isSentBack(definition, last)) return null
  const subject = subjectOf(record)
  const attempts = subject === null ? [] : await runs.attemptsOf(subject)
  if (completedSince(attempts, last.createdAt).length > 0) return null
  const { reason } = last.payload
  return {
    author: last.author,
    reason: typeof reason === 'string' ? excerpt(reason, 300) : null,
    at: last.createdAt,
  }
}
