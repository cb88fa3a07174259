import { type ProcessDefinition, stateNamed } from './definition.ts'
import { reachable } from './reach.ts'
import type { Run } from './run.ts'

export interface RunProgress {
  /** States that were left, in the order of their first entry. */
  readonly completedStates: readonly string[]
  readonly currentState: string
  /** States that can still be reached and are not the present one. */
  readonly remainingStates: readonly string[]
  /** Null when no end can be reached. */
  readonly fewestStepsToEnd: number | null
}

export function runProgress(definition: ProcessDefinition, run: Run): RunProgress {
  const steps = run.isCancelled ? new Map<string, number>() : reachable(definition, run.state)
  const ends = [...steps]
    .filter(([state]) => stateNamed(definition, state)?.isFinal)
    .map(([, count]) => count)
  const visited = run.visits.map(({ state }) => state)
  return {
    completedStates: visited.filter((state) => state !== run.state),
    currentState: run.state,
    remainingStates: [...steps.keys()].filter((state) => state !== run.state),
    fewestStepsToEnd: ends.length === 0 ? null : Math.min(...ends),
  }
}
