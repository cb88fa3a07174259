import { identifier } from '../input/fields.ts'

export const runField = identifier(
  'Run, such as run-550e8400-e29b-41d4-a716-446655440000; may be left out when exactly one run is active',
).optional()
