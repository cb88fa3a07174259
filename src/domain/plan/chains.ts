import { type GraphTask, type TaskGraph, taskGraph } from './task-graph.ts'
import { compareWork } from './work-order.ts'

/** Unfinished tasks that wait for each other form a chain. Its length is the sum of what its tasks count. */
export interface Chains {
  /** By place: the longest chain that begins with the task and goes on through what waits for it; 0 when done. */
  readonly lengths: readonly number[]
  /** By place: the task that goes on with this longest chain. */
  readonly next: readonly (number | null)[]
}

export function chains<T extends GraphTask>(graph: TaskGraph<T>): Chains {
  const lengths = graph.tasks.map(() => 0)
  const next: (number | null)[] = graph.tasks.map(() => null)
  for (const place of workingOrder(graph).reverse()) {
    const best = longest(graph, graph.dependents[place] ?? [], lengths)
    next[place] = best
    lengths[place] = (graph.tasks[place]?.estimate ?? 1) + (best === null ? 0 : (lengths[best] ?? 0))
  }
  return { lengths, next }
}

/** The longest chain of unfinished tasks, in the order in which they have to be worked on. */
export function criticalPath<T extends GraphTask>(tasks: readonly T[]): readonly T[] {
  const graph = taskGraph(tasks)
  return criticalPathOf(graph, chains(graph))
}

export function criticalPathOf<T extends GraphTask>(graph: TaskGraph<T>, found: Chains): readonly T[] {
  const heads = graph.tasks.keys().filter((place) => isHead(graph, place))
  const path: T[] = []
  for (let place = longest(graph, heads, found.lengths); place !== null; place = found.next[place] ?? null) {
    const task = graph.tasks[place]
    if (task) path.push(task)
  }
  return path
}

/** Unfinished tasks, each after what it depends on. Tasks in a cycle, and what waits for them, are left out. */
function workingOrder<T extends GraphTask>(graph: TaskGraph<T>): number[] {
  const open = graph.dependencies.map((places) => places.length)
  const order = [...graph.tasks.keys()].filter((place) => isHead(graph, place))
  for (const place of order) {
    for (const dependent of graph.dependents[place] ?? []) {
      const left = (open[dependent] ?? 0) - 1
      open[dependent] = left
      if (left === 0) order.push(dependent)
    }
  }
  return order
}

/** Where a chain begins: an unfinished task that no unfinished task holds back. */
function isHead<T extends GraphTask>(graph: TaskGraph<T>, place: number): boolean {
  return graph.tasks[place]?.status !== 'done' && graph.dependencies[place]?.length === 0
}

function longest<T extends GraphTask>(
  graph: TaskGraph<T>,
  places: Iterable<number>,
  lengths: readonly number[],
): number | null {
  let best: number | null = null
  for (const place of places) {
    if (best === null || comesFirst(graph, lengths, [place, best])) best = place
  }
  return best
}

function comesFirst<T extends GraphTask>(
  graph: TaskGraph<T>,
  lengths: readonly number[],
  [place, other]: readonly [number, number],
): boolean {
  const longer = (lengths[place] ?? 0) - (lengths[other] ?? 0)
  const [task, rival] = [graph.tasks[place], graph.tasks[other]]
  return longer > 0 || (longer === 0 && !!task && !!rival && compareWork(task, rival) < 0)
}
