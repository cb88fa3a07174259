import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../kernel/failure.ts'
import { yieldToEventLoop } from '../../kernel/files/yield-to-event-loop.ts'
import { processEnd } from '../../kernel/process-end.ts'

/** How long to wait for a locked database, in milliseconds. */
export const patience = 10_000

/** Milliseconds since the process began, without loading `performance`, which takes two milliseconds. */
export function processUptimeMs(): number {
  return process.uptime() * 1000
}

/** The maximum duration of one try and its pause: any longer time this process was suspended. */
const maxTryMs = 100

/** Retries with jitter while another process holds the lock, for at most `patience`. Time spent in the queue since `since` counts. */
export async function retryWhileLocked<Result>(
  work: () => Result,
  since = processUptimeMs(),
): Promise<Result> {
  let remaining = patience - (processUptimeMs() - since)
  for (let pause = 4; ; pause = Math.min(pause * 1.5, 60)) {
    const began = processUptimeMs()
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || remaining < 0) throw error
      processEnd.throwIfAborted()
    }
    await sleep(1 + Math.random() * pause)
    remaining -= Math.min(processUptimeMs() - began, maxTryMs)
  }
}

/** Limits concurrency in order of request, without blocking the event loop. */
export class AsyncLimiter {
  /** The last ones in line. */
  readonly #before: Promise<void>[]

  constructor(places = 1) {
    this.#before = Array.from({ length: places }, () => Promise.resolve())
  }

  /** Waits for its turn; call the returned function to end it. */
  async take(): Promise<() => void> {
    const before = this.#before.shift()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#before.push(promise)
    await before
    return resolve
  }

  async run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const done = await this.take()
    try {
      return await work()
    } finally {
      done()
    }
  }
}

/** Yields to the event loop after some milliseconds of work, so that a server can answer others. */
export function createYielder(milliseconds = 8): () => Promise<void> | undefined {
  let since = processUptimeMs()
  return () => {
    if (processUptimeMs() - since < milliseconds) return undefined
    return yieldToEventLoop().then(() => {
      since = processUptimeMs()
    })
  }
}

/** Another process holds the lock: retry. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(errorCode(error) ?? '')
}
