import type { PlannedTask } from './plan.ts'

/** What the plan's order needs to know of a task. Entities that have more fit too. */
export interface GraphTask {
  readonly id: string
  readonly dependsOn: readonly string[]
  /** A dropped task is done: what depends on it becomes ready. */
  readonly status: 'to_do' | 'in_progress' | 'done'
  /** It was given up: nothing waits for it, and it is not counted as work. */
  readonly dropped?: boolean
  /** Done, and what depends on it waits all the same: a person has yet to answer. */
  readonly unsettled?: boolean
  /** Someone holds it, whether an attempt is open or not. */
  readonly claimed: boolean
  /** A task without a role fits every role. */
  readonly role: string | null
  /** Null is outside any phase, and comes last. */
  readonly phaseOrder: number | null
  /** Null comes after every number. */
  readonly sortOrder: number | null
  readonly createdOrder: number
}

/** The tasks by their place in the list, with the edges of work that is not done. */
interface TaskGraph<T extends GraphTask> {
  readonly tasks: readonly T[]
  /** Places of the unfinished tasks that each unfinished task depends on. */
  readonly dependencies: readonly (readonly number[])[]
  /** Places of the unfinished tasks that depend on each unfinished task. */
  readonly dependents: readonly (readonly number[])[]
  /** By place: dependencies that are not among the tasks, or done and not settled. No work on the tasks ends them. */
  readonly missing: ReadonlyMap<number, readonly string[]>
}

function taskGraph<T extends GraphTask>(tasks: readonly T[]): TaskGraph<T> {
  const places = new Map(tasks.map(({ id }, place) => [id, place]))
  const dependencies: number[][] = tasks.map(() => [])
  const dependents: number[][] = tasks.map(() => [])
  const missing = new Map<number, readonly string[]>()
  for (const [place, task] of tasks.entries()) {
    if (task.status === 'done') continue
    for (const id of task.dependsOn) {
      const dependency = places.get(id)
      if (dependency === undefined || tasks[dependency]?.unsettled === true)
        missing.set(place, [...(missing.get(place) ?? []), id])
      else if (tasks[dependency]?.status !== 'done') {
        dependencies[place]?.push(dependency)
        dependents[dependency]?.push(place)
      }
    }
  }
  return { tasks, dependencies, dependents, missing }
}

/**
 * The ids that an unfinished task waits for. A dependency that is not among the tasks counts as open: nothing
 * becomes ready because a list was incomplete.
 */
function awaitedIds<T extends GraphTask>(graph: TaskGraph<T>, place: number): readonly string[] {
  const known = (graph.dependencies[place] ?? []).flatMap((dependency) => graph.tasks[dependency]?.id ?? [])
  return [...new Set([...known, ...(graph.missing.get(place) ?? [])])]
}

function isReady<T extends GraphTask>(graph: TaskGraph<T>, place: number): boolean {
  const task = graph.tasks[place]
  if (task?.status !== 'to_do' || task.claimed) return false
  return graph.dependencies[place]?.length === 0 && !graph.missing.has(place)
}

/** Unfinished tasks that wait for each other form a chain. Its length is the sum of what its tasks count. */
interface TaskChains {
  /** By place: the longest chain that begins with the task and goes on through what waits for it; 0 when done. */
  readonly lengths: readonly number[]
  /** By place: the task that goes on with this longest chain. */
  readonly next: readonly (number | null)[]
}

function longestChains<T extends GraphTask>(graph: TaskGraph<T>): TaskChains {
  const lengths = graph.tasks.map(() => 0)
  const next: (number | null)[] = graph.tasks.map(() => null)
  for (const place of topologicalOrder(graph).reverse()) {
    const best = longestChain(graph, graph.dependents[place] ?? [], lengths)
    next[place] = best
    lengths[place] = 1 + (best === null ? 0 : (lengths[best] ?? 0))
  }
  return { lengths, next }
}

/** The longest chain of unfinished tasks, in the order in which they have to be worked on. */
export function criticalPath<T extends GraphTask>(tasks: readonly T[]): readonly T[] {
  const graph = taskGraph(tasks)
  return criticalPathOf(graph, longestChains(graph))
}

function criticalPathOf<T extends GraphTask>(graph: TaskGraph<T>, found: TaskChains): readonly T[] {
  const heads = graph.tasks.keys().filter((place) => isHead(graph, place))
  const path: T[] = []
  for (
    let place = longestChain(graph, heads, found.lengths);
    place !== null;
    place = found.next[place] ?? null
  ) {
    const task = graph.tasks[place]
    if (task) path.push(task)
  }
  return path
}

/** Unfinished tasks, each after what it depends on. Tasks in a cycle, and what waits for them, are left out. */
function topologicalOrder<T extends GraphTask>(graph: TaskGraph<T>): number[] {
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

function longestChain<T extends GraphTask>(
  graph: TaskGraph<T>,
  places: Iterable<number>,
  lengths: readonly number[],
): number | null {
  let best: number | null = null
  for (const place of places) {
    if (best === null || hasPriority(graph, lengths, [place, best])) best = place
  }
  return best
}

function hasPriority<T extends GraphTask>(
  graph: TaskGraph<T>,
  lengths: readonly number[],
  [place, other]: readonly [number, number],
): boolean {
  const longer = (lengths[place] ?? 0) - (lengths[other] ?? 0)
  const [task, rival] = [graph.tasks[place], graph.tasks[other]]
  return longer > 0 || (longer === 0 && !!task && !!rival && compareWork(task, rival) < 0)
}

export const marks = ['done', 'in_progress', 'ready', 'blocked', 'dropped'] as const
export type TaskMark = (typeof marks)[number]

/** How a task stands in its plan. */
export interface TaskState {
  readonly mark: TaskMark
  /** On the longest chain of unfinished tasks. */
  readonly critical: boolean
  /** Ids of open dependencies; also of a task that was begun in spite of them. */
  readonly waitsFor: readonly string[]
}

/** By place in the list. A claimed task is in progress, whether an attempt is open or not. */
export function taskStates(tasks: readonly GraphTask[]): readonly TaskState[] {
  const graph = taskGraph(tasks)
  const critical = new Set(criticalPathOf(graph, longestChains(graph)))
  return tasks.map((task, place) => ({
    mark: markOf(task, isReady(graph, place)),
    critical: critical.has(task),
    waitsFor: awaitedIds(graph, place),
  }))
}

export function markOf(task: Pick<GraphTask, 'dropped' | 'status' | 'claimed'>, ready: boolean): TaskMark {
  if (task.dropped) return 'dropped'
  if (task.status === 'done') return 'done'
  if (task.status === 'in_progress' || task.claimed) return 'in_progress'
  return ready ? 'ready' : 'blocked'
}

/** To do, claimed by no one, and every dependency done and settled; in the order in which the tasks were given. */
export function readyTasks<T extends GraphTask>(tasks: readonly T[]): readonly T[] {
  const graph = taskGraph(tasks)
  return tasks.filter((_, place) => isReady(graph, place))
}

type TaskOrderFields = Pick<GraphTask, 'id' | 'phaseOrder' | 'sortOrder' | 'createdOrder'>

/** Phase order, then sort order, then creation; the id decides the rest, so that every machine agrees. */
export function compareWork(one: TaskOrderFields, other: TaskOrderFields): number {
  return (
    compareOrder(one.phaseOrder, other.phaseOrder) ||
    compareOrder(one.sortOrder, other.sortOrder) ||
    one.createdOrder - other.createdOrder ||
    compareText(one.id, other.id)
  )
}

function compareOrder(one: number | null, other: number | null): number {
  if (one === other) return 0
  if (one === null) return 1
  return other === null ? -1 : one - other
}

function compareText(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

interface OpenWork {
  readonly toDo: readonly PlannedTask[]
  readonly begun: readonly PlannedTask[]
  /** The open tasks that the blocked ones wait for, each with why it is open: `t-… (in review)`. */
  readonly awaited: readonly string[]
  /** What the caller is called, and for which role it asked. */
  readonly caller: string
  readonly role: string | null
}

/** Most tasks that one reason names. */
export const maxNamed = 3

/** Why none of these tasks is for the caller now, in figures: `2 wait for t-…`, `1 held by worker-c`, `1 is for qa-engineer`. */
export function reasonsFor({ toDo, begun, awaited, caller, role }: OpenWork): readonly string[] {
  const blocked = toDo.filter((planned) => planned.blocked)
  const ready = toDo.filter((planned) => !planned.blocked)
  const isForOther = ({ task }: PlannedTask) =>
    Boolean(task.assignee) && task.assignee !== caller && task.assignee !== role
  const assigned = Map.groupBy(ready.filter(isForOther), ({ task }) => task.assignee ?? '')
  const wanted = Map.groupBy(
    ready.filter((planned) => !isForOther(planned)),
    ({ task }) => task.role ?? 'anyone',
  )
  const holders = Map.groupBy(begun, ({ claim }) => claim?.agent ?? 'someone')
  return [
    ...(blocked.length === 0 ? [] : [waitingSentence(blocked.length, awaited)]),
    ...[...holders].map(
      ([agent, tasks]) => `${tasks.length} ${tasks.length === 1 ? 'is' : 'are'} held by ${agent}`,
    ),
    ...[...assigned].map(([who, tasks]) => `${tasks.length} ${isOrAre(tasks.length)} for ${who}`),
    ...[...wanted].map(([who, tasks]) => `${tasks.length} ${isOrAre(tasks.length)} for ${who}`),
  ]
}

function waitingSentence(blocked: number, awaited: readonly string[]): string {
  const more = awaited.length > maxNamed ? ` and ${awaited.length - maxNamed} more` : ''
  const verb = blocked === 1 ? 'waits' : 'wait'
  return `${blocked} ${verb} for ${awaited.slice(0, maxNamed).join(', ')}${more}`
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
