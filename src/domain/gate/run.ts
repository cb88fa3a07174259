import { type ProcessDefinition, stateNamed } from './definition.ts'
import type { Artifact, Visit } from './evidence.ts'
import type { JsonObject } from './json.ts'

/** Where a process stands for one subject. */
export interface Run {
  readonly state: string
  /** 1 at the start, one more with each accepted event. */
  readonly revision: number
  readonly context: JsonObject
  /** What was handed in, each file of a type once: as it was handed in last. */
  readonly artifacts: readonly Artifact[]
  /** The states that were entered, in the order of their first entry. */
  readonly visits: readonly Visit[]
  /** Somebody ended it where it stands. */
  readonly isCancelled?: boolean
}

/** Why nothing can happen to a run any more, as a sentence; null while it goes on. */
export function endOf(definition: ProcessDefinition, { state, isCancelled }: Run): string | null {
  if (isCancelled) return `The run is finished: it was cancelled in "${state}".`
  return stateNamed(definition, state)?.isFinal ? `The run is finished: "${state}" is a final state.` : null
}

export function beginRun(definition: ProcessDefinition, context: JsonObject = {}): Run {
  return {
    state: definition.initialState,
    revision: 1,
    context: { ...definition.initialContext, ...context },
    artifacts: [],
    visits: entered([], definition.initialState, 1),
  }
}

/** The visits after one more entry into a state. */
export function entered(visits: readonly Visit[], state: string, revision: number): readonly Visit[] {
  const before = visits.find((visit) => visit.state === state)
  if (!before) return [...visits, { state, count: 1, first: revision, last: revision }]
  const again = { ...before, count: before.count + 1, last: revision }
  return visits.map((visit) => (visit === before ? again : visit))
}

/** What was handed in after more was: the same file of the same type takes the place of its earlier state. */
export function handedIn(before: readonly Artifact[], more: readonly Artifact[]): readonly Artifact[] {
  if (more.length === 0) return before
  const kept = new Map(
    [...before, ...more].map((artifact) => [`${artifact.type}\n${artifact.path}`, artifact]),
  )
  return [...kept.values()]
}
