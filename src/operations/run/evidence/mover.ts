import type { Author } from '../../../domain/actor.ts'
import type { LoadedRun } from '../../../ports/reads/run-reads.ts'
import type { Reads } from '../../../ports/store.ts'

/** Who brought the run to the state that it is in; null while it is where it began. */
export async function moverOf(reads: Reads, { record, visits }: LoadedRun): Promise<Author | null> {
  const entered = visits.find(({ state }) => state === record.state)?.last ?? 1
  const event = await reads.runs.eventAt(record.id, entered)
  return event && { name: event.by, identity: event.author ?? null }
}
