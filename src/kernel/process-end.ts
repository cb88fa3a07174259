import { Failure } from './failure.ts'

const ending = new AbortController()

/** Aborted once this process has to end: long work stops then, and nothing new starts. */
export const processEnd: AbortSignal = ending.signal

/** Aborts everything that still runs in this process. */
export function endWork(): void {
  ending.abort(
    new Failure('UNAVAILABLE', 'Waymark is stopping, so this did not finish.', {
      reason: 'shutting_down',
      hint: 'Call again once it runs.',
    }),
  )
}

/** Waits for work that does not stop by itself. Rejects once this process has to end. */
export async function untilEnd<Result>(work: Promise<Result>): Promise<Result> {
  processEnd.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(processEnd.reason)
  processEnd.addEventListener('abort', stop)
  try {
    return await Promise.race([work, promise])
  } finally {
    processEnd.removeEventListener('abort', stop)
  }
}
