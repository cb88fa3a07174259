import type { Answer } from './project.ts'

/** The log entries in what `export` answered, as they are recorded. */
export function exportedEvents(text: string): readonly Answer[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line): Answer => JSON.parse(line))
    .filter(({ body }) => body !== undefined)
}
