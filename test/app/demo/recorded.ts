import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { ProjectEvent } from '../../../src/events/domain/project-event.ts'
import { readExport } from '../../../src/events/operations/event-line.ts'

export const recordingFolder = join(import.meta.dirname, '..', '..', '..', 'demo')

/** The log entries of the recording, as they were recorded. */
export function recordedEvents(): Promise<readonly ProjectEvent[]> {
  return eventsOf(gunzipSync(readFileSync(join(recordingFolder, 'log.jsonl.gz'))).toString())
}

/** The log entries of a log, without the line that says what it is. */
export async function eventsOf(log: string): Promise<readonly ProjectEvent[]> {
  const [, ...lines] = log.trim().split('\n')
  return Array.fromAsync((await readExport(lines)).readEvents(0))
}

/** What happened, and how long after the first log entry: alike for a day and for its replay. */
export function courseOf(events: readonly ProjectEvent[]): readonly string[] {
  const first = events[1]?.recordedAt ?? 0
  return events
    .slice(1)
    .map(({ seq, recordedAt, actor, body }) => `${seq} ${recordedAt - first} ${actor.name} ${body.kind}`)
}
