import type { PlannedTask } from './plan.ts'

/** The fields of a task that determine the plan's order. */
export interface GraphTask {
  readonly id: string
  readonly dependsOn: readonly string[]
  /** A dropped task is done: what depends on it becomes ready. */
  readonly status: 'to_do' | 'in_progress' | 'done'
  /** It was dropped: no task waits for it, and it does not count as work. */
  readonly dropped?: boolean
  /** Done, but its dependents wait for a person's answer. */
  readonly unsettled?: boolean
  /** Claimed, with or without an open attempt. */
  readonly claimed: boolean
  /** A task without a role fits every role. */
  readonly role: string | null
  /** Null for no phase, which comes last. */
  readonly phaseOrder: number | null
  /** Null comes after every number. */
  readonly sortOrder: number | null
  readonly createdOrder: number
}

/** The tasks by list index, with the dependencies between unfinished ones. */
interface TaskGraph<T extends GraphTask> {
  readonly tasks: readonly T[]
  /** Indexes of the unfinished tasks that each unfinished task depends on. */
  readonly dependencies: readonly (readonly number[])[]
  /** Indexes of the unfinished tasks that depend on each unfinished task. */
  readonly dependents: readonly (readonly number[])[]
  /** By index: dependencies outside the list, or done and not settled. Work on these tasks cannot resolve them. */
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

/** The ids that an unfinished task waits for. A dependency outside the list counts as open. */
function awaitedIds<T extends GraphTask>(graph: TaskGraph<T>, place: number): readonly string[] {
  const listed = (graph.dependencies[place] ?? []).flatMap((dependency) => graph.tasks[dependency]?.id ?? [])
  return [...new Set([...listed, ...(graph.missing.get(place) ?? [])])]
}

function isReady<T extends GraphTask>(graph: TaskGraph<T>, place: number): boolean {
  const task = graph.tasks[place]
  if (task?.status !== 'to_do' || task.claimed) return false
  return graph.dependencies[place]?.length === 0 && !graph.missing.has(place)
}

/** Unfinished tasks that depend on each other form a chain. Its length is the sum of their counted tasks. */
interface TaskChains {
  /** By index: the longest chain from the task through its dependents; 0 when done. */
  readonly lengths: readonly number[]
  /** By index: the next task of this longest chain. */
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

/** The longest chain of unfinished tasks, in working order. None where no such task depends on another. */
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
  return path.length > 1 ? path : []
}

/** Unfinished tasks, each after its dependencies. Tasks in or behind a cycle are left out. */
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

/** The start of a chain: an unfinished task without unfinished dependencies. */
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
  const [task, otherTask] = [graph.tasks[place], graph.tasks[other]]
  return longer > 0 || (longer === 0 && !!task && !!otherTask && compareWork(task, otherTask) < 0)
}

export const marks = ['done', 'in_progress', 'ready', 'blocked', 'dropped'] as const
export type TaskMark = (typeof marks)[number]

/** The state of a task in its plan. */
export interface TaskState {
  readonly mark: TaskMark
  /** On the longest chain of unfinished tasks. */
  readonly critical: boolean
  /** Ids of open dependencies; also of a task that was started despite them. */
  readonly waitsFor: readonly string[]
}

/** By list index. A claimed task is in progress, with or without an open attempt. */
export function taskStates(tasks: readonly GraphTask[]): readonly TaskState[] {
  const graph = taskGraph(tasks)
  const critical = new Set(criticalPathOf(graph, longestChains(graph)))
  return tasks.map((task, place) => ({
    mark: taskMark(task, isReady(graph, place)),
    critical: critical.has(task),
    waitsFor: awaitedIds(graph, place),
  }))
}

export function taskMark(task: Pick<GraphTask, 'dropped' | 'status' | 'claimed'>, ready: boolean): TaskMark {
  if (task.dropped) return 'dropped'
  if (task.status === 'done') return 'done'
  if (task.status === 'in_progress' || task.claimed) return 'in_progress'
  return ready ? 'ready' : 'blocked'
}

/** To do, unclaimed, and every dependency done and settled; in the given order. */
export function readyTasks<T extends GraphTask>(tasks: readonly T[]): readonly T[] {
  const graph = taskGraph(tasks)
  return tasks.filter((_, place) => isReady(graph, place))
}

type TaskOrderFields = Pick<GraphTask, 'id' | 'phaseOrder' | 'sortOrder' | 'createdOrder'>

/** Phase order, then sort order, then creation, then id, so that every machine agrees. */
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
  readonly inProgress: readonly PlannedTask[]
  /** The open dependencies of blocked tasks with their status: `t-… (in review)`. */
  readonly awaited: readonly string[]
  /** The caller's name, and the requested role. */
  readonly caller: string
  readonly role: string | null
}

/** The maximum of tasks that one reason names. */
export const maxNamed = 3

/** Why no task is ready for the caller, as sentence parts: `2 wait for t-…`, `1 held by worker-c`. */
export function reasonsFor({ toDo, inProgress, awaited, caller, role }: OpenWork): readonly string[] {
  const blocked = toDo.filter((planned) => planned.blocked)
  const ready = toDo.filter((planned) => !planned.blocked)
  const isForOther = ({ task }: PlannedTask) =>
    Boolean(task.assignee) && task.assignee !== caller && task.assignee !== role
  const assigned = Map.groupBy(ready.filter(isForOther), ({ task }) => task.assignee ?? '')
  const byRole = Map.groupBy(
    ready.filter((planned) => !isForOther(planned)),
    ({ task }) => task.role ?? 'anyone',
  )
  const holders = Map.groupBy(inProgress, ({ claim }) => claim?.agent ?? 'someone')
  return [
    ...(blocked.length === 0 ? [] : [waitingSentence(blocked.length, awaited)]),
    ...[...holders].map(([agent, tasks]) =>
      agent === caller
        ? `you hold ${tasks
            .slice(0, maxNamed)
            .map(({ task }) => task.id)
            .join(', ')}${moreOf(tasks.length)}`
        : `${tasks.length} ${tasks.length === 1 ? 'is' : 'are'} claimed by ${agent}`,
    ),
    ...[...assigned].map(([agent, tasks]) => `${tasks.length} ${isOrAre(tasks.length)} for ${agent}`),
    ...[...byRole].map(
      ([assigneeOrRole, tasks]) => `${tasks.length} ${isOrAre(tasks.length)} for ${assigneeOrRole}`,
    ),
  ]
}

function moreOf(count: number): string {
  return count > maxNamed ? ` and ${count - maxNamed} more` : ''
}

function waitingSentence(blocked: number, awaited: readonly string[]): string {
  const more = moreOf(awaited.length)
  const verb = blocked === 1 ? 'waits' : 'wait'
  return `${blocked} ${verb} for ${awaited.slice(0, maxNamed).join(', ')}${more}`
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
