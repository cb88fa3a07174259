import { z } from 'zod'
import { identifier } from '../input/fields.ts'
import { briefField } from './brief.ts'

export const dependencyFields = z.strictObject({
  'task-id': identifier('Task that waits'),
  'dep-id': identifier('Task to be done first'),
  brief: briefField.optional(),
})
