import { Failure } from '../../domain/failure.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import { findAttempt, findTask } from '../find/entities.ts'

/** The attempt that an id speaks of: itself, or the last one at a task. */
export async function attemptOf(reads: Reads, id: string): Promise<Attempt> {
  if (id.startsWith('a-')) return findAttempt(reads, id)
  const task = await findTask(reads, id)
  const attempt = await reads.tasks.lastAttempt(task.id)
  if (attempt) return attempt
  throw new Failure('CONFLICT', `Task ${task.id} "${task.name}" was never started: nothing was measured.`, {
    hint: `Call start_task { planned_task_id: "${task.id}" } to begin.`,
  })
}
