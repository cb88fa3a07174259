import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './error-code.ts'

/** How long a locked database is waited for, in milliseconds. */
export const patience = 10_000

/**
 * Repeats what another process's lock refuses, with jitter, until it works or `patience` is over.
 * Who waited in line already (`since`, of `performance.now`) does not wait as long again.
 */
export async function patiently<Result>(work: () => Result, since = performance.now()): Promise<Result> {
  const deadline = since + patience
  for (let pause = 4; ; pause = Math.min(pause * 1.5, 60)) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
    }
    await sleep(1 + Math.random() * pause)
  }
}
