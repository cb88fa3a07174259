import type { Task } from '../../domain/track/task.ts'
import type { TaskTable } from '../schema/task-tables.ts'

/** A task to do is ready, or blocked by dependencies that are not done. */
export function standingOf(status: Task['status'], openDependencies: number): TaskTable['standing'] {
  if (status !== 'to_do') return status
  return openDependencies === 0 ? 'ready' : 'blocked'
}
