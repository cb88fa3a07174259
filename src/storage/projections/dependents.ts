import { countDependents } from './open-dependencies.ts'
import type { Projecting } from './projecting.ts'
import { lowerPrerequisites, restoreHeight } from './task-height.ts'

/** What depends on a task that is done now has one thing less to wait for. */
export async function settleDone(projecting: Projecting, taskId: string): Promise<void> {
  await countDependents(projecting, taskId, -1)
  await lowerPrerequisites(projecting, taskId)
}

/** What depends on a task that is not done after all waits for it again. */
export async function settleUndone(projecting: Projecting, taskId: string): Promise<void> {
  await countDependents(projecting, taskId, 1)
  await restoreHeight(projecting, taskId)
}
