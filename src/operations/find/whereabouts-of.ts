import type { Whereabouts } from '../../domain/track/records.ts'
import { whereabouts } from '../../domain/track/whereabouts.ts'
import type { Reads } from '../../ports/store.ts'
import { findAttempt, findTask } from './entities.ts'

/** Reads, under the lock, where something said about a task belongs. */
export async function whereaboutsOf(
  reads: Reads,
  said: { readonly task_id: string; readonly attempt_id?: string | undefined },
): Promise<Whereabouts> {
  const task = await findTask(reads, said.task_id)
  const named = said.attempt_id === undefined ? null : await findAttempt(reads, said.attempt_id)
  const open = named ? null : await reads.tasks.openAttempt(task.id)
  return whereabouts(task, { open, named })
}
