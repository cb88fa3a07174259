import { z } from 'zod'
import type { JsonObject } from '../../domain/gate/json.ts'
import { freeObject, identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { loadRun } from '../run/find-run.ts'
import { decideRun } from './decide-run.ts'
import { contentField, reasonField, roleField } from './fields.ts'
import { assertSeen, shownOfRun } from './shown.ts'

export const decide = defineOperation({
  name: 'decide',
  command: 'decide',
  toolset: 'gate',
  audience: 'person',
  title: 'Send an event as a person',
  description: 'Sends any event of a run, at whatever revision it is, with a reason.',
  kind: 'command',
  positional: ['run_id', 'event', 'reason'],
  input: z.strictObject({
    run_id: identifier('The run'),
    event: identifier('The event'),
    reason: reasonField,
    payload: freeObject('What else the event asks for').optional(),
    role: roleField,
    content: contentField,
  }),
  output: z.looseObject({ run_id: z.string(), decided: z.boolean(), event: z.string() }),
}).handler(async (handling, input) => {
  const loaded = await handling.store.view((reads) => loadRun(reads, input.run_id))
  const about = { id: loaded.record.id, seen: input.content }
  const seen = await assertSeen(handling, about, () => shownOfRun(handling, loaded))
  return decideRun(handling, loaded, {
    event: input.event,
    reason: input.reason ?? null,
    payload: (input.payload ?? null) as JsonObject | null, // a record, as its schema says
    role: input.role,
    approvals: [],
    seen: seen !== null,
  })
})
