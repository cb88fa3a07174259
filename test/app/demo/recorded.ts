import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { ProjectEvent } from '../../../src/events/domain/project-event.ts'
import { readExport } from '../../../src/events/operations/event-line.ts'

export const recordingFolder = join(import.meta.dirname, '..', '..', '..', 'demo')

/** The facts of the recording, as they were recorded. */
export function recordedFacts(): readonly ProjectEvent[] {
  return factsOf(gunzipSync(readFileSync(join(recordingFolder, 'journal.jsonl.gz'))).toString())
}

/** The facts of a journal, without the line that says what it is. */
export function factsOf(journal: string): readonly ProjectEvent[] {
  const [, ...lines] = journal.trim().split('\n')
  return readExport(lines).facts
}

/** What happened, and how long after the first fact: alike for a day and for its replay. */
export function courseOf(facts: readonly ProjectEvent[]): readonly string[] {
  const first = facts[1]?.at ?? 0
  return facts.slice(1).map(({ seq, at, actor, body }) => `${seq} ${at - first} ${actor.name} ${body.kind}`)
}
