import { chains, criticalPathOf } from './chains.ts'
import { type GraphTask, isReady, taskGraph, waitsFor } from './task-graph.ts'

export type Mark = 'done' | 'in_progress' | 'ready' | 'blocked' | 'dropped'

/** How a task stands in its plan. */
export interface Standing {
  readonly mark: Mark
  /** On the longest chain of unfinished tasks. */
  readonly critical: boolean
  /** Ids of open dependencies; also of a task that was begun in spite of them. */
  readonly waitsFor: readonly string[]
}

/** By place in the list. A claimed task is in progress, whether an attempt is open or not. */
export function standings(tasks: readonly GraphTask[]): readonly Standing[] {
  const graph = taskGraph(tasks)
  const critical = new Set(criticalPathOf(graph, chains(graph)))
  return tasks.map((task, place) => ({
    mark: markOf(task, isReady(graph, place)),
    critical: critical.has(task),
    waitsFor: waitsFor(graph, place),
  }))
}

function markOf(task: GraphTask, ready: boolean): Mark {
  if (task.dropped) return 'dropped'
  if (task.status === 'done') return 'done'
  if (task.status === 'in_progress' || task.claimed) return 'in_progress'
  return ready ? 'ready' : 'blocked'
}
