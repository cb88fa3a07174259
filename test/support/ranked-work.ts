import { compareWork, type GraphTask, readyTasks, taskStates } from '../../src/plan/domain/readiness.ts'

/** Ready work in the order in which it is best done, said plainly: what the longest chain waits for comes first. */
export function rankedWork<T extends GraphTask>(
  tasks: readonly T[],
  { role }: { readonly role: string | null },
): readonly T[] {
  const known = new Map<T, number>()
  const chain = (task: T): number => {
    const length = known.get(task) ?? 1 + Math.max(0, ...waitingFor(task).map(chain))
    known.set(task, length)
    return length
  }
  const waitingFor = ({ id }: T) =>
    tasks.filter(({ status, dependsOn }) => status !== 'done' && dependsOn.includes(id))
  return readyTasks(tasks)
    .filter((task) => role === null || task.role === null || task.role === role)
    .toSorted((one, other) => chain(other) - chain(one) || compareWork(one, other))
}

/** Tasks to do with a dependency that is open. */
export function blockedTasks<T extends GraphTask>(tasks: readonly T[]) {
  const states = taskStates(tasks)
  return tasks.flatMap((task, place) => {
    const waitsFor = states[place]?.waitsFor ?? []
    return task.status === 'to_do' && waitsFor.length > 0 ? [{ task, waitsFor }] : []
  })
}
