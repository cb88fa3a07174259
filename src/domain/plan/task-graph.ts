/** What the plan's order needs to know of a task. Entities that have more fit too. */
export interface GraphTask {
  readonly id: string
  readonly dependsOn: readonly string[]
  /** A dropped task is done: what depends on it becomes ready. */
  readonly status: 'to_do' | 'in_progress' | 'done'
  /** Somebody holds it, whether an attempt is open or not. */
  readonly claimed: boolean
  /** A task without a role fits every role. */
  readonly role: string | null
  /** Any unit, but one unit throughout a plan, and never negative; a task without one counts 1. */
  readonly estimate: number | null
  /** Tasks outside any phase come last. */
  readonly phaseOrder: number | null
  readonly sortOrder: number
  readonly createdOrder: number
}

/** The tasks by their place in the list, with the edges of work that is not done. */
export interface TaskGraph<T extends GraphTask> {
  readonly tasks: readonly T[]
  /** Places of the unfinished dependencies of each task. */
  readonly dependencies: readonly (readonly number[])[]
  /** Places of the unfinished tasks that wait for each unfinished task. */
  readonly dependents: readonly (readonly number[])[]
  /** The ids that each task waits for: unfinished, or not among the tasks at all. */
  readonly waitsFor: readonly (readonly string[])[]
}

/** A dependency that is not among the tasks counts as open: nothing becomes ready because a list was incomplete. */
export function taskGraph<T extends GraphTask>(tasks: readonly T[]): TaskGraph<T> {
  const places = new Map(tasks.map(({ id }, place) => [id, place]))
  const dependencies: (readonly number[])[] = []
  const dependents: number[][] = tasks.map(() => [])
  const waitsFor: (readonly string[])[] = []
  for (const [place, task] of tasks.entries()) {
    const open: number[] = []
    const waiting: string[] = []
    for (const id of new Set(task.dependsOn)) {
      const dependency = places.get(id)
      if (dependency !== undefined && tasks[dependency]?.status === 'done') continue
      waiting.push(id)
      if (dependency === undefined) continue
      open.push(dependency)
      if (task.status !== 'done') dependents[dependency]?.push(place)
    }
    dependencies.push(open)
    waitsFor.push(waiting)
  }
  return { tasks, dependencies, dependents, waitsFor }
}
