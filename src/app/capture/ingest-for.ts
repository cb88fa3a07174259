import type { Context } from '../../kernel/operations/operation.ts'
import { hasQueue } from '../../sessions/capture/hook-queue.ts'
import type { HookEvent } from '../../sessions/domain/hook-event.ts'
import { processStart } from '../process.ts'

/** Records hook events; without any it only ends sessions that were silent for long. */
export type RecordHookEvents = (hookEvents: readonly HookEvent[]) => Promise<unknown>

/** Records in a local project. */
export function recorderOf(context: Context): RecordHookEvents {
  // Without the ingest: recording must not wait for itself.
  const { ingest: _, ...recording } = context
  return async (hookEvents) => {
    const { recordMachineEvents: recordHookEvents } = await import(
      '../../sessions/operations/record-hook-events.ts'
    )
    return recordHookEvents(recording, hookEvents)
  }
}

/** Records a project's hook queue before it is read. Loads nothing if no hook ever ran. */
export async function ingestFor(root: string, record: RecordHookEvents): Promise<void> {
  if (!hasQueue(root, process.env)) return
  const { ingestNow } = await import('../../sessions/capture/follow-queue.ts')
  await ingestNow(hostOf(root, record))
}

/** The parts of the program that ingesting needs. */
export function hostOf(root: string, record: RecordHookEvents) {
  return { root, environment: process.env, processStart, record }
}
