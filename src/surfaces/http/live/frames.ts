import type { Fact } from '../../../domain/fact.ts'
import { instant } from '../../../domain/instant.ts'
import type { Reads } from '../../../ports/store.ts'
import { type EntityReference, eventsOf, type LiveEvent } from './events-of.ts'
import { type Entity, readEntity } from './read-entity.ts'

/** The frames of one fact, written out once for all readers. */
export interface FactFrames {
  readonly seq: number
  readonly frames: readonly Buffer[]
}

/** The frames of consecutive facts. Each entity is read once, as it is now: after all of these facts. */
export async function framesOf(
  facts: readonly Fact[],
  reads: Reads,
  now: number,
): Promise<readonly FactFrames[]> {
  const read = once((of) => readEntity(reads, of, now))
  const written: FactFrames[] = []
  for (const fact of facts) written.push({ seq: fact.seq, frames: await framesOfFact(fact, read) })
  return written
}

type Read = (of: EntityReference) => Promise<Entity | null>

function once(read: Read): Read {
  const known = new Map<string, Promise<Entity | null>>()
  return (of) => {
    if (!('id' in of)) return read(of)
    const key = `${of.kind} ${of.id}`
    const entity = known.get(key) ?? read(of)
    known.set(key, entity)
    return entity
  }
}

async function framesOfFact(fact: Fact, read: Read): Promise<readonly Buffer[]> {
  const events = eventsOf(fact.happening)
  const shown: { readonly event: string; readonly data: Entity | null }[] = []
  for (const event of events) {
    const data = await read(event.of)
    if (data) shown.push({ event: nameOf(event, data), data })
  }
  // A fact whose entities are gone is told all the same: its seq is not skipped.
  if (shown.length === 0) shown.push({ event: events[0].event, data: null })
  const { name, kind, role, channel } = fact.actor
  const common = { seq: fact.seq, at: instant(fact.at), actor: { name, kind, role, channel } }
  return shown.map(({ event, data }, n) => {
    const { seq, at, actor } = common
    return Buffer.from(JSON.stringify({ seq, n, event, at, actor, data }))
  })
}

function nameOf({ event }: LiveEvent, data: Entity): string {
  return data.kind === 'workflow' ? event.replace('mission:', 'workflow:') : event
}
