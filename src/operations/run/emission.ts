import type { Emission, Emitter } from '../../domain/gate/emission.ts'
import type { Facts } from '../../domain/gate/evidence.ts'
import type { JsonObject } from '../../domain/gate/json.ts'
import type { HandedIn } from './evidence/handed-in.ts'

/** An event as somebody sends it. */
export interface SentEvent {
  readonly event: string
  readonly payload: JsonObject
  readonly artifacts: readonly HandedIn[]
  /** Null: wherever the run is. */
  readonly expectedRevision: number | null
}

export function emissionOf(
  sent: SentEvent,
  { emitter, facts }: { readonly emitter: Emitter; readonly facts: Facts },
): Emission {
  return {
    event: sent.event,
    payload: sent.payload,
    artifacts: sent.artifacts.map(({ stamp: _, ...artifact }) => ({ ...artifact, standing: 'current' })),
    emitter,
    expectedRevision: sent.expectedRevision,
    facts,
    assumed: [],
  }
}
