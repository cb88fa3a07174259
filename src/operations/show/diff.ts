import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Handling } from '../context.ts'
import { identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { attemptOf } from './subject.ts'

const longestDiff = 2_000_000

export const diff = defineOperation({
  name: 'diff',
  command: 'diff',
  toolset: 'track',
  audience: 'both',
  title: 'The unified diff of a task',
  description: 'What a task changed, line by line, between its snapshots. For an open task: up to now.',
  kind: 'query',
  positional: ['id', 'path'],
  input: z.strictObject({
    id: identifier('A task, or one attempt at it (t-…, a-…)'),
    path: text('Only this file, from the top of the work tree').optional(),
  }),
  output: z.looseObject({
    task_id: z.string(),
    attempt_id: z.string(),
    diff: z.string(),
    truncated: z.boolean(),
  }),
}).handler(async (handling, input) => {
  const attempt = await handling.store.view((reads) => attemptOf(reads, input.id))
  const end = attempt.status === 'open' ? await stateNow(handling, attempt) : attempt.endSnapshot
  if (end === null) {
    throw new Failure(
      'UNAVAILABLE',
      `The end of attempt ${attempt.id} was not measured (${attempt.status}).`,
      {
        hint: `waymark show ${attempt.taskId} tells what is known.`,
      },
    )
  }
  const unified = await handling.witness.unifiedDiff(attempt.snapshot, end, input.path)
  if (unified === null) {
    throw new Failure('UNAVAILABLE', `The contents that attempt ${attempt.id} changed are no longer kept.`, {
      hint: `waymark changes ${attempt.taskId} still lists the files; contents are kept for 30 days.`,
    })
  }
  return {
    task_id: attempt.taskId,
    attempt_id: attempt.id,
    diff: unified.slice(0, longestDiff),
    truncated: unified.length > longestDiff,
  }
})

async function stateNow({ witness, ids }: Handling, attempt: Attempt): Promise<SnapshotPlace> {
  const { top, prefix, engine } = attempt.snapshot
  const now = await witness.snapshot({ folder: `${top}/${prefix}`, name: ids.next('attempt'), engine, top })
  return now.ref
}
