import type { Emission, Emitter } from '../../domain/gate/emission.ts'
import type { Facts } from '../../domain/gate/evidence.ts'
import type { JsonObject } from '../../domain/gate/json.ts'
import type { HandedIn, NamedFile } from './evidence/handed-in.ts'

/** An event as somebody sends it. */
export interface SentEvent {
  readonly event: string
  readonly payload: JsonObject
  readonly files: readonly NamedFile[]
  /** Null: wherever the run is. */
  readonly expectedRevision: number | null
}

/** What was gathered for an event, and who sends it. */
export interface EmissionSources {
  readonly emitter: Emitter
  readonly facts: Facts
  readonly handedIn: readonly HandedIn[]
}

export function emissionOf(sent: SentEvent, { emitter, facts, handedIn }: EmissionSources): Emission {
  return {
    event: sent.event,
    payload: sent.payload,
    artifacts: handedIn.map((file) => {
      const { stamp: _, ...artifact } = file
      return { ...artifact, standing: 'current' }
    }),
    emitter,
    expectedRevision: sent.expectedRevision,
    facts,
    assumed: [],
  }
}
