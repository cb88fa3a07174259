import { z } from 'zod'
import type { Evidence } from '../../domain/fact.ts'
import {
  changeDetail,
  countChanges,
  inReadingOrder,
  sharedTree,
} from '../../domain/track/completion-report.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Handling } from '../context.ts'
import { count, identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { sharedTreeFields } from '../task/completion-answer.ts'
import { measure } from '../task/measure.ts'
import { attemptOf } from './subject.ts'

export const changes = defineOperation({
  name: 'changes',
  command: 'changes',
  toolset: 'track',
  audience: 'both',
  title: 'The verified changes of a task',
  description: 'Every file that a task changed, out of scope first. For an open task: measured now.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A task, or one attempt at it (t-…, a-…)'),
    limit: count('How many; default 50', 1000).optional(),
    offset: z.int().min(0).describe('How many to pass over').optional(),
  }),
  output: z.looseObject({
    task_id: z.string(),
    attempt_id: z.string(),
    status: z.string(),
    verification: z.looseObject({}),
    changes: z.array(z.looseObject({})),
    counts: z.looseObject({}),
    ...sharedTreeFields,
    total: z.int(),
    next_offset: z.int().nullable(),
  }),
}).handler(async (handling, input) => {
  const limit = input.limit ?? 50
  const offset = input.offset ?? 0
  const attempt = await handling.store.view((reads) => attemptOf(reads, input.id))
  const read = attempt.status === 'open' ? measuredNow : stored
  const found = await read(handling, attempt, { limit, offset })
  const total = found.counts.added + found.counts.modified + found.counts.deleted + found.counts.renamed
  return {
    task_id: attempt.taskId,
    attempt_id: attempt.id,
    status: attempt.status,
    ...found,
    changes: found.changes.map(changeDetail),
    counts: { ...found.counts },
    total,
    next_offset: offset + found.changes.length < total ? offset + found.changes.length : null,
  }
})

interface Part {
  readonly limit: number
  readonly offset: number
}

async function measuredNow(handling: Handling, attempt: Attempt, { limit, offset }: Part) {
  const evidence = await measure(handling, attempt)
  return {
    verification: verificationOf(evidence),
    ...sharedTree(evidence),
    changes: inReadingOrder(evidence.changes).slice(offset, offset + limit),
    counts: countChanges(evidence.changes),
  }
}

async function stored({ store }: Handling, attempt: Attempt, part: Part) {
  return store.view(async ({ tasks }) => {
    const end = await tasks.end(attempt.id)
    return {
      verification: end === null ? unmeasured : verificationOf(end.evidence),
      ...(end !== null && sharedTree(end.evidence)),
      changes: await tasks.changes(attempt.id, part),
      counts: end?.counts ?? { added: 0, modified: 0, deleted: 0, renamed: 0 },
    }
  })
}

const unmeasured = {
  status: 'unknown',
  scope_match: null,
  unexpected_files: [],
  warnings: ['The attempt was abandoned: its end was not measured.'],
}

function verificationOf({ verification, scope, warnings }: Omit<Evidence, 'changes'>) {
  return {
    status: verification,
    scope_match: scope.matches,
    unexpected_files: scope.unexpected.slice(0, 50),
    warnings: warnings.slice(0, 20),
  }
}
