import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../kernel/failure.ts'
import { yieldToEventLoop } from '../../kernel/files/yield-to-event-loop.ts'
import { processEnd } from '../../kernel/process-end.ts'

/** How long a locked database is waited for, in milliseconds. */
export const patience = 10_000

/** Milliseconds since the process began. `performance` says the same, and takes a process of 100 ms two of them to load. */
export function processUptimeMs(): number {
  return process.uptime() * 1000
}

/** What one try and its pause take at most, in milliseconds: the rest this process stood still, and could not try. */
const maxTryMs = 100

/**
 * Repeats what another process's lock refuses, with jitter, until it works or `patience` is over.
 * Who waited in line already (`since`, of `elapsed`) does not wait as long again.
 */
export async function retryWhileLocked<Result>(
  work: () => Result,
  since = processUptimeMs(),
): Promise<Result> {
  let left = patience - (processUptimeMs() - since)
  for (let pause = 4; ; pause = Math.min(pause * 1.5, 60)) {
    const began = processUptimeMs()
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || left < 0) throw error
      processEnd.throwIfAborted()
    }
    await sleep(1 + Math.random() * pause)
    left -= Math.min(processUptimeMs() - began, maxTryMs)
  }
}

/** One at a time, or so many, in the order of asking. Waiting is asynchronous, so that an event loop never freezes. */
export class AsyncLimiter {
  /** Whom the next ones wait for. */
  readonly #before: Promise<void>[]

  constructor(places = 1) {
    this.#before = Array.from({ length: places }, () => Promise.resolve())
  }

  /** Waits for its turn; call what is answered to hand it on. */
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

/** Lets a server answer others meanwhile: waits a turn of the event loop when the last one is some milliseconds ago. */
export function createYielder(milliseconds = 8): () => Promise<void> | undefined {
  let since = processUptimeMs()
  return () => {
    if (processUptimeMs() - since < milliseconds) return undefined
    return yieldToEventLoop().then(() => {
      since = processUptimeMs()
    })
  }
}

/** Another process holds the lock: worth another try. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(errorCode(error) ?? '')
}
