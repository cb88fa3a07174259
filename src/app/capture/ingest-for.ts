import type { Context } from '../../kernel/operations/operation.ts'
import { hasQueue } from '../../sessions/capture/hook-queue.ts'
import type { HookEvent } from '../../sessions/domain/hook-event.ts'
import { processStart } from '../process.ts'

/** Records hook events; with none of them it ends sessions of which nothing was heard for long. */
export type RecordHookEvents = (hookEvents: readonly HookEvent[]) => Promise<unknown>

/** Records where the project is kept here. */
export function recorderOf(context: Context): RecordHookEvents {
  // What is recorded must not wait for itself.
  const { drain: _, ...recording } = context
  return async (hookEvents) => {
    const { recordMachineEvents: recordHookEvents } = await import(
      '../../sessions/operations/record-hook-events.ts'
    )
    return recordHookEvents(recording, hookEvents)
  }
}

/** Records what waits in the hook queue of a project before it is read. Nothing is loaded where no hook ever ran. */
export async function ingestFor(root: string, record: RecordHookEvents): Promise<void> {
  if (!hasQueue(root, process.env)) return
  const { ingestNow } = await import('../../sessions/capture/follow-queue.ts')
  await ingestNow(hostOf(root, record))
}

/** What ingesting needs of the program. */
export function hostOf(root: string, record: RecordHookEvents) {
  return { root, environment: process.env, processStart, record }
}
