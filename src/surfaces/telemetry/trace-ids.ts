import { createHash } from 'node:crypto'

/** What is known of a thing under an id that follows from its name: whoever traces it again continues its trace. */
export type Traced = 'mission' | 'phase' | 'task' | 'attempt' | 'run'

/** 16 bytes in hexadecimal. */
export function traceIdOf(what: Traced, id: string): string {
  return digest(`trace ${what} ${id}`).slice(0, 32)
}

/** 8 bytes in hexadecimal. */
export function spanIdOf(what: Traced, id: string): string {
  return digest(`span ${what} ${id}`).slice(0, 16)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
