import { z } from 'zod'
import { instant } from '../../domain/instant.ts'
import type { Progress } from '../../domain/track/records.ts'
import { whereaboutsOf } from '../find/whereabouts-of.ts'
import { freeObject, identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

export const logMilestone = defineOperation({
  name: 'log_milestone',
  tool: 'log_milestone',
  command: 'progress log',
  synonyms: { id: 'task_id' },
  toolset: 'track',
  audience: 'both',
  title: 'Log progress',
  description: 'Log a milestone for real-time UI updates',
  kind: 'command',
  positional: ['task_id', 'message'],
  input: z.strictObject({
    task_id: identifier('Task ID'),
    message: text('Short message'),
    progress: z.number().min(0).max(100).describe('Percent').optional(),
    metadata: freeObject('More data').optional(),
    attempt_id: identifier('Attempt ID, if not the open one').optional(),
  }),
  output: z.looseObject({ milestone_id: z.string(), created_at: z.string() }),
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const progress: Progress = {
      id: setting.ids.next('progress'),
      ...(await whereaboutsOf(reads, input)),
      message: input.message,
      progress: input.progress ?? null,
      metadata: input.metadata ?? null,
      createdAt: setting.at,
    }
    return {
      happenings: [{ kind: 'progress.logged', progress }],
      answer: { milestone_id: progress.id, created_at: instant(progress.createdAt) },
    }
  }),
)
