import { existsSync, type FSWatcher, watch } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../domain/failure.ts'
import { type DrainHost, drainSpool, forgetOldEvents } from './drain.ts'
import { type DrainLock, isDraining, type ProcessStart, takeDrainLock } from './drain-lock.ts'
import { waitingEvents } from './limits.ts'
import { logLine, spoolOf } from './spool.ts'

export interface FollowHost extends DrainHost {
  readonly processStart: ProcessStart
}

// Those of this process, by the folder of their project.
const followers = new Map<string, Follower>()

const everySoOften = 2000
// After a failure it is tried less and less often, up to this.
const longestPause = 60_000
const aMoment = 100
const longestWait = 2000

/**
 * Drains the spool of a project while a server runs, unless another process does. Never keeps the server alive. Answers
 * how to stop.
 */
export function followSpool(host: FollowHost): () => Promise<void> {
  const follower = new Follower(host)
  followers.set(host.root, follower)
  const timer = setInterval(() => void follower.look(), everySoOften).unref()
  void follower.look()
  return async () => {
    clearInterval(timer)
    if (followers.get(host.root) === follower) followers.delete(host.root)
    await follower.end()
  }
}

/** Drains until nothing came for a while. False where another process does it already. */
export async function drainUntilQuiet(host: FollowHost, quietFor: number): Promise<boolean> {
  const follower = new Follower(host)
  try {
    if (!(await follower.look())) return false
    let quietSince = Date.now()
    while (Date.now() - quietSince < quietFor) {
      await follower.change(500)
      if (waitingEvents(spoolOf(host.root)).length === 0) follower.touch()
      else if (await follower.look()) quietSince = Date.now()
    }
    return true
  } finally {
    await follower.end()
  }
}

/** Records what waits now, or waits for the process that does. Never throws: what fails is in the log. */
export async function drainNow(host: FollowHost): Promise<void> {
  const until = Date.now() + longestWait
  const spool = spoolOf(host.root)
  while (waitingEvents(spool).length > 0 && Date.now() < until) {
    const own = followers.get(host.root)
    if (own?.drains()) {
      await own.look()
      // A look that was under way may have ended just before the last of it came.
      if (waitingEvents(spool).length > 0) await own.look()
      return
    }
    if (!isDraining(host.root, host.processStart)) {
      const follower = new Follower(host)
      await follower.look()
      await follower.end()
      return
    }
    await sleep(aMoment)
  }
}

class Follower {
  readonly #host: FollowHost
  #lock: DrainLock | null = null
  #watcher: FSWatcher | null = null
  #running: Promise<boolean> | null = null
  #changed: () => void = () => undefined
  #failures = 0
  #nextTry = 0
  #said = ''

  constructor(host: FollowHost) {
    this.#host = host
  }

  /** Drains what is there. False where another process has the lock. */
  look(): Promise<boolean> {
    this.#running ??= this.#look().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #look(): Promise<boolean> {
    const { root, processStart } = this.#host
    const spool = spoolOf(root)
    try {
      if (this.#lock === null) {
        if (!existsSync(spool.folder)) return true
        this.#lock = takeDrainLock(root, processStart)
        if (this.#lock === null) return false
      }
      this.#lock.touch()
      this.#watch(spool.folder)
      if (Date.now() < this.#nextTry || waitingEvents(spool).length === 0) return true
      await drainSpool(this.#host)
      this.#failures = 0
      this.#said = ''
    } catch (error) {
      this.#failures += 1
      this.#nextTry = Date.now() + Math.min(longestPause, everySoOften * 2 ** Math.min(this.#failures, 6))
      const why = messageOf(error)
      // One line for one trouble, however often it is met.
      if (why !== this.#said) logLine(root, `drain: ${why}`)
      this.#said = why
      forgetOldEvents(root)
    }
    return true
  }

  drains(): boolean {
    return this.#lock !== null
  }

  touch(): void {
    try {
      this.#lock?.touch()
    } catch {}
  }

  /** Resolves when something changed in the spool, or after a while. */
  async change(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#changed = resolve
    const timer = setTimeout(resolve, milliseconds)
    await promise
    clearTimeout(timer)
  }

  // What a watch misses is found by looking: it only makes it sooner.
  #watch(folder: string): void {
    if (this.#watcher) return
    try {
      this.#watcher = watch(folder, { persistent: false }, (_, name) => {
        if (!name?.endsWith('.json') || name === 'drained.json') return
        this.#changed()
        void this.look()
      })
      this.#watcher.on('error', () => {
        this.#watcher?.close()
        this.#watcher = null
      })
    } catch {}
  }

  async end(): Promise<void> {
    this.#watcher?.close()
    await this.#running
    try {
      this.#lock?.release()
    } catch {}
    this.#lock = null
  }
}
