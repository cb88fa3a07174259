import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { instant } from '../../domain/instant.ts'
import type { Hold } from '../../domain/track/records.ts'
import { resolveHold } from '../../domain/track/resolve-hold.ts'
import type { Reads } from '../../ports/store.ts'
import { identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

export const resolve = defineOperation({
  name: 'resolve',
  command: 'resolve',
  toolset: 'track',
  audience: 'person',
  title: 'Resolve a hold',
  description:
    'Answer what waits for a person: a blocker, a review, files outside the scope, a stale attempt.',
  kind: 'command',
  positional: ['id', 'answer'],
  input: z.strictObject({
    id: identifier('The hold, or the issue that opened it (h-… or i-…)'),
    answer: text("What the waiting agent is told (e.g., 'Use cookies.')").optional(),
    dismiss: z.boolean().describe('Close it without acting on it').optional(),
  }),
  output: z.looseObject({
    hold_id: z.string(),
    kind: z.string(),
    status: z.string(),
    answer: z.string().nullable(),
    by: z.string(),
    at: z.string(),
  }),
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const hold = await findHold(reads, input.id)
    const status = input.dismiss ? 'dismissed' : 'resolved'
    const answer = input.answer ?? null
    const attempt = hold.attemptId === null ? null : await reads.tasks.attempt(hold.attemptId)
    const happenings = resolveHold(hold, { status, answer }, attempt)
    return {
      happenings,
      answer: { hold_id: hold.id, kind: hold.kind, status, answer, by: actor.name, at: instant(setting.at) },
    }
  }),
)

async function findHold(reads: Reads, id: string): Promise<Hold> {
  const hold = id.startsWith('i-') ? await reads.holds.ofIssue(id) : await reads.holds.find(id)
  if (hold) return hold
  throw new Failure('NOT_FOUND', `hold not found: ${id}`, {
    hint: 'waymark inbox lists the holds that are open.',
  })
}
