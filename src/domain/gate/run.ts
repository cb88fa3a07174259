import type { ProcessDefinition } from './definition.ts'
import type { Artifact, Visit } from './evidence.ts'
import type { JsonObject } from './json.ts'

/** Where a process stands for one subject. */
export interface Run {
  readonly state: string
  /** 1 at the start, one more with each accepted event. */
  readonly revision: number
  readonly context: JsonObject
  readonly artifacts: readonly Artifact[]
  /** Every entry into a state, in order; the last one is the present state. */
  readonly visits: readonly Visit[]
}

export function beginRun(definition: ProcessDefinition, context: JsonObject = {}): Run {
  return {
    state: definition.initialState,
    revision: 1,
    context: { ...definition.initialContext, ...context },
    artifacts: [],
    visits: [{ state: definition.initialState, revision: 1 }],
  }
}
