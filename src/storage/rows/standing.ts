import type { Task } from '../../domain/track/task.ts'
import type { TaskTable } from '../schema/task-tables.ts'

/** A task to do is ready, or blocked by dependencies that are not done. */
export function standingOf(status: Task['status'], openDependencies: number): TaskTable['standing'] {
  if (status !== 'to_do') return status
  return openDependencies === 0 ? 'ready' : 'blocked'
}

type Settling = Pick<TaskTable, 'status' | 'resolution' | 'open_holds'>

/** Done, and a person has yet to say something: what depends on it waits. What was given up holds nothing up. */
export function isUnsettled({ status, resolution, open_holds }: Settling): boolean {
  return status === 'done' && resolution !== 'dropped' && open_holds > 0
}

/** Whether what depends on a task need not wait for it. */
export function isReleased(task: Settling): boolean {
  return task.status === 'done' && !isUnsettled(task)
}
