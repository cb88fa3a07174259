import type { Answer } from '../operation.ts'
import { printEntity } from './print.ts'

/** The changed entity; an edit that names nothing to change prints nothing, as taskman's does. */
export function printEdited(answer: Answer, input: Answer): readonly string[] {
  const asked = Object.keys(input).filter((key) => !['id', 'format', 'brief'].includes(key))
  return asked.length === 0 ? [''] : printEntity(answer, input)
}
