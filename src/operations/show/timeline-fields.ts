import { z } from 'zod'

export const timelineTaskFields = z.looseObject({
  id: z.string(),
  name: z.string(),
  phase_id: z.string().nullable(),
  parent_task_id: z.string().nullable(),
  standing: z.enum(['ready', 'blocked', 'in_progress', 'done']),
  resolution: z.string().nullable(),
})

/** Lines, and files out of scope. */
export const lineFields = z.looseObject({ added: z.int(), deleted: z.int(), out_of_scope: z.int() })

export const attemptFields = z.looseObject({
  id: z.string(),
  task_id: z.string(),
  number: z.int(),
  agent: z.string().nullable(),
  status: z.string(),
  opened_at: z.string(),
  closed_at: z.string().nullable(),
  counts: z.looseObject({ added: z.int(), modified: z.int(), deleted: z.int(), renamed: z.int() }).nullable(),
  lines: lineFields.nullable(),
  scope_match: z.boolean().nullable(),
  verification: z.string().nullable(),
})

export const markFields = z.looseObject({
  id: z.string(),
  kind: z.enum(['decision', 'issue', 'progress']),
  task_id: z.string(),
  agent: z.string().nullable(),
  text: z.string(),
  at: z.string(),
})
