import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { type CommandContext, defineOperation } from '../../kernel/operations/operation.ts'
import { holdKinds, type InboxItem } from '../../track/domain/records.ts'
import { type InboxItemClosing, resolveItem } from '../domain/items.ts'
import { recordDue } from './due-items.ts'
import { assertContentSeen, shownContentOfItem } from './shown-content.ts'
import { contentField, findInboxItem, requireAnswerText } from './subject.ts'

/** A hold as a person ended it. */
export const HoldClosed = z.object({
  hold_id: z.string(),
  kind: z.enum(holdKinds),
  status: z.enum(['resolved', 'dismissed']),
  answer: z.string().nullable(),
  by: z.string(),
  at: z.string(),
})

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
    content: contentField,
    dismiss: z.boolean().describe('Close it without acting on it').optional(),
  }),
  output: HoldClosed,
}).handler(async (handling, input) => {
  await recordDue(handling)
  const hold = await handling.store.view((reads) => findInboxItem(reads, input.id))
  if (input.dismiss !== true) assertAnswerable(hold)
  await assertContentSeen(handling, { id: input.id, seen: input.content }, () =>
    shownContentOfItem(handling, hold),
  )
  const asksForWords = hold.status === 'open' && (hold.kind === 'blocker' || hold.kind === 'review')
  if (asksForWords && input.dismiss !== true) {
    requireAnswerText(input.answer, {
      what: `Hold ${hold.id} is a question: its answer`,
      command: `waymark resolve ${hold.id} "<answer>"; or close it without one: --dismiss`,
    })
  }
  const status = input.dismiss ? 'dismissed' : 'resolved'
  const said = input.dismiss ? 'dismissed' : hold.kind === 'scope' ? 'accepted' : 'answered'
  return closeItem(handling, hold.id, { status, answer: input.answer ?? null, said })
})

/** What a run or a command waits for is a yes or a no: an answer in words alone would let it wait on. */
function assertAnswerable({ id, kind, status }: InboxItem): void {
  if (status !== 'open' || (kind !== 'approval' && kind !== 'command')) return
  throw new Failure('REFUSED', `Hold ${id} waits for a decision: a yes or a no.`, {
    reason: 'decision_needed',
    hint: `waymark approve ${id} or waymark reject ${id} "<reason>".`,
  })
}

/** Ends a hold as a person decided. Fails with CONFLICT when it has ended already. */
export function closeItem({ record, actor }: CommandContext, id: string, ending: InboxItemClosing) {
  return record(async (reads, setting) => {
    const hold = await findInboxItem(reads, id)
    const attempt = hold.attemptId === null ? null : await reads.tasks.attempt(hold.attemptId)
    return {
      facts: resolveItem(hold, ending, attempt),
      answer: {
        hold_id: hold.id,
        kind: hold.kind,
        status: ending.status,
        answer: ending.answer,
        by: actor.name,
        at: instant(setting.at),
      },
    }
  })
}
