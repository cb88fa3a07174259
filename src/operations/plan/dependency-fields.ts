import { z } from 'zod'
import { identifier } from '../input/fields.ts'

export const dependencyFields = z.strictObject({
  'task-id': identifier('Task that depends on another'),
  'dep-id': identifier('Task that must be completed first'),
})
