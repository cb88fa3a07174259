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
  /** Somebody holds it, whether an attempt is open or not. */
  readonly claimed: boolean
  /** A task without a role fits every role. */
  readonly role: string | null
  /** Any unit, but one unit throughout a plan, and never negative; a task without one counts 1. */
  readonly estimate: number | null
  /** Null is outside any phase, and comes last. */
  readonly phaseOrder: number | null
  /** Null comes after every number. */
  readonly sortOrder: number | null
  readonly createdOrder: number
}

/** The tasks by their place in the list, with the edges of work that is not done. */
export interface TaskGraph<T extends GraphTask> {
  readonly tasks: readonly T[]
  /** Places of the unfinished tasks that each unfinished task depends on. */
  readonly dependencies: readonly (readonly number[])[]
  /** Places of the unfinished tasks that depend on each unfinished task. */
  readonly dependents: readonly (readonly number[])[]
  /** By place: dependencies that are not among the tasks, or done and not settled. No work on the tasks ends them. */
  readonly missing: ReadonlyMap<number, readonly string[]>
}

export function taskGraph<T extends GraphTask>(tasks: readonly T[]): TaskGraph<T> {
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
export function waitsFor<T extends GraphTask>(graph: TaskGraph<T>, place: number): readonly string[] {
  const known = (graph.dependencies[place] ?? []).flatMap((dependency) => graph.tasks[dependency]?.id ?? [])
  return [...new Set([...known, ...(graph.missing.get(place) ?? [])])]
}

export function isReady<T extends GraphTask>(graph: TaskGraph<T>, place: number): boolean {
  const task = graph.tasks[place]
  if (task?.status !== 'to_do' || task.claimed) return false
  return graph.dependencies[place]?.length === 0 && !graph.missing.has(place)
}
