import { z } from 'zod'

/** A list in an answer. */
export function list<Entry extends z.ZodType>(entry: Entry) {
  return z.array(entry).readonly()
}

export const strings = list(z.string())

/** An id and its name, for a link. */
export const Named = z.object({ id: z.string(), name: z.string() })
