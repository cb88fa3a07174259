import type { PlannedTask } from './plan.ts'

interface Standing {
  readonly toDo: readonly PlannedTask[]
  readonly begun: readonly PlannedTask[]
  /** What the caller is called, and for which role it asked. */
  readonly caller: string
  readonly role: string | null
}

const mostNamed = 3

/** Why none of these tasks is for the caller now, in figures: `2 wait for t-…`, `1 held by worker-c`, `1 is for qa-engineer`. */
export function reasonsFor({ toDo, begun, caller, role }: Standing): readonly string[] {
  const blocked = toDo.filter((planned) => planned.blocked)
  const ready = toDo.filter((planned) => !planned.blocked)
  const isForOther = ({ task }: PlannedTask) =>
    Boolean(task.assignee) && task.assignee !== caller && task.assignee !== role
  const assigned = Map.groupBy(ready.filter(isForOther), ({ task }) => task.assignee ?? '')
  const wanted = Map.groupBy(
    ready.filter((planned) => !isForOther(planned)),
    ({ task }) => task.role ?? 'anybody',
  )
  const holders = Map.groupBy(begun, ({ claim }) => claim?.agent ?? 'somebody')
  return [
    ...(blocked.length === 0 ? [] : [waiting(blocked, [...toDo, ...begun])]),
    ...[...holders].map(
      ([agent, tasks]) => `${tasks.length} ${tasks.length === 1 ? 'is' : 'are'} held by ${agent}`,
    ),
    ...[...assigned].map(([who, tasks]) => `${tasks.length} ${are(tasks.length)} for ${who}`),
    ...[...wanted].map(([who, tasks]) => `${tasks.length} ${are(tasks.length)} for ${who}`),
  ]
}

function waiting(blocked: readonly PlannedTask[], open: readonly PlannedTask[]): string {
  const undone = new Set<string>(open.map(({ task }) => task.id))
  const awaited = [...new Set(blocked.flatMap(({ dependsOn }) => dependsOn))]
  // What is done and not settled, or of another plan, is not among the open ones.
  const known = awaited.filter((id) => undone.has(id))
  const named = known.length > 0 ? known : awaited
  const more = named.length > mostNamed ? ` and ${named.length - mostNamed} more` : ''
  const verb = blocked.length === 1 ? 'waits' : 'wait'
  return `${blocked.length} ${verb} for ${named.slice(0, mostNamed).join(', ')}${more}`
}

function are(count: number): string {
  return count === 1 ? 'is' : 'are'
}

export function counted(tasks: number): string {
  return tasks === 1 ? '1 task' : `${tasks} tasks`
}
