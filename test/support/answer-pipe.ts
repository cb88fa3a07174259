import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

/**
 * What another process writes into a pipe, read while everything else here stands still. The system wakes whoever waits:
 * to look again and again costs a tenth of a core. So that nobody waits for ever, a thread writes into the pipe, too.
 */
export class AnswerPipe {
  readonly file: number
  readonly #buffer = Buffer.allocUnsafe(1 << 20)
  #isOpen = true

  constructor(path: string) {
    // Open for both, because to open one end alone waits for the other.
    this.file = openSync(path, constants.O_RDWR)
    startGuard()
  }

  /** The next bytes, or null when none came in time. */
  next(): Buffer | null {
    waiting[1] = this.file
    Atomics.add(waiting, 0, 1)
    const length = readSync(this.file, this.#buffer)
    Atomics.add(waiting, 0, 1)
    return length === 1 && this.#buffer[0] === 0 ? null : Buffer.from(this.#buffer.subarray(0, length))
  }

  close(): void {
    if (this.#isOpen) closeSync(this.file)
    this.#isOpen = false
  }
}

/** How often a wait began or ended, so odd while there is one; and the pipe of the last one. */
const waiting = new Int32Array(new SharedArrayBuffer(8))

let guard: Worker | undefined

function startGuard(): void {
  if (guard) return
  guard = new Worker(join(import.meta.dirname, 'answer-guard.mjs'), { workerData: waiting, execArgv: [] })
  guard.unref()
}
