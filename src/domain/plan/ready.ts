import { type Chains, chains } from './chains.ts'
import { type GraphTask, isReady, type TaskGraph, taskGraph, waitsFor } from './task-graph.ts'
import { compareWork } from './work-order.ts'

/** A task to do that has to wait, and for what. */
export interface BlockedTask<T extends GraphTask> {
  readonly task: T
  readonly waitsFor: readonly string[]
}

export interface WorkFilter {
  /** Null takes work for any role. */
  readonly role: string | null
}

/** To do, claimed by nobody, and every dependency done and settled; in the order in which the tasks were given. */
export function readyTasks<T extends GraphTask>(tasks: readonly T[]): readonly T[] {
  const graph = taskGraph(tasks)
  return tasks.filter((_, place) => isReady(graph, place))
}

/** To do, with a dependency that is open. */
export function blockedTasks<T extends GraphTask>(tasks: readonly T[]): readonly BlockedTask<T>[] {
  const graph = taskGraph(tasks)
  return tasks.flatMap((task, place) => {
    const open = task.status === 'to_do' ? waitsFor(graph, place) : []
    return open.length > 0 ? [{ task, waitsFor: open }] : []
  })
}

/** Ready work in the order in which it is best done: what the longest chain waits for comes first. */
export function rankedWork<T extends GraphTask>(tasks: readonly T[], filter: WorkFilter): readonly T[] {
  const graph = taskGraph(tasks)
  return rank(graph, chains(graph), filter)
}

/** The first of the ranked work, or null when nothing is ready for the role. */
export function nextTask<T extends GraphTask>(tasks: readonly T[], filter: WorkFilter): T | null {
  return rankedWork(tasks, filter)[0] ?? null
}

function rank<T extends GraphTask>(graph: TaskGraph<T>, found: Chains, { role }: WorkFilter): readonly T[] {
  return graph.tasks
    .map((task, place) => ({ task, place, chain: found.lengths[place] ?? 0 }))
    .filter(({ place }) => isReady(graph, place))
    .filter(({ task }) => role === null || task.role === null || task.role === role)
    .sort((one, other) => other.chain - one.chain || compareWork(one.task, other.task))
    .map(({ task }) => task)
}
