import { z } from 'zod'
import { unlisted } from '../input/fields.ts'
import type { Answer } from '../operation.ts'

export const briefField = z.boolean().describe('Return only id, ready, blocked')

/** The same for phases and milestones, whose answers are short anyway. */
export const briefIdField = unlisted(z.boolean().describe('Answer only the id'))

/** The fields of an answer, none but the id certain: a brief one leaves the others out. */
export function orBrief<Fields extends z.ZodObject>(fields: Fields) {
  return z.looseObject({ ...fields.partial().shape, id: z.string(), ready: z.boolean().optional() })
}

export function briefTask(task: Answer): Answer {
  const { id, status, blocked, claimed_by } = task
  return { id, ready: status === 'to_do' && blocked === false && claimed_by === null, blocked }
}

export function briefEntity({ id }: Answer): Answer {
  return { id }
}
