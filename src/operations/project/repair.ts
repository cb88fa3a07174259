import { z } from 'zod'
import { defineOperation } from '../operation.ts'

export const repair = defineOperation({
  name: 'doctor_repair',
  command: 'doctor --repair',
  toolset: 'track',
  audience: 'person',
  title: 'Make the tables again from the facts',
  description:
    'Keeps a copy of the database beside it, replays the journal, and makes every table again that differs from it.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({}),
  output: z.looseObject({
    backup: z.string(),
    facts: z.int(),
    tables: z.array(z.string()),
    rows: z.int(),
  }),
}).handler(async ({ store, clock }) => {
  const repaired = await store.repair(clock.now())
  return { ...repaired, tables: [...repaired.tables] }
})
