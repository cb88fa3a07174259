import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Moment } from '../../domain/capture/moment.ts'
import type { Context } from '../../operations/operation.ts'
import { processStart } from '../process.ts'

/** Records moments; with none of them it ends sessions of which nothing was heard for long. */
export type RecordMoments = (moments: readonly Moment[]) => Promise<unknown>

/** Records where the project is kept here. */
export function recordingIn(context: Context): RecordMoments {
  // What is recorded must not wait for itself.
  const { drain: _, ...recording } = context
  return async (moments) => {
    const { recordMoments } = await import('../../operations/capture/record-moments.ts')
    return recordMoments(recording, moments)
  }
}

/** Records what waits in the spool of a project before it is read. Nothing is loaded where no hook ever told anything. */
export async function drainFor(root: string, record: RecordMoments): Promise<void> {
  if (!hasSpool(root)) return
  const { drainNow } = await import('../../capture/follow-spool.ts')
  await drainNow(hostOf(root, record))
}

/** What draining a project needs of the program. */
export function hostOf(root: string, record: RecordMoments) {
  return { root, environment: process.env, processStart, record }
}

/** Whether a hook ever told anything. */
export function hasSpool(root: string): boolean {
  return existsSync(join(root, '.waymark', 'spool'))
}
