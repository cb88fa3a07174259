import { z } from 'zod'
import { defineOperation } from '../operation.ts'

export const accept = defineOperation({
  name: 'doctor_accept',
  command: 'doctor --accept',
  toolset: 'track',
  audience: 'person',
  title: 'Go on with the record as it is',
  description:
    'After a database was lost, cut or replaced: takes what is there for the right record, or begins a new one.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({}),
  output: z.looseObject({ facts: z.int() }),
}).handler(async ({ store, clock }) => ({ facts: await store.accept(clock.now()) }))
