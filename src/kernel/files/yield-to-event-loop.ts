import { setImmediate } from 'node:timers/promises'
import { processEnd } from '../process-end.ts'

/** Lets the process answer other requests. Throws once it has to end. */
export async function yieldToEventLoop(): Promise<void> {
  await setImmediate()
  processEnd.throwIfAborted()
}
