import { existsSync, type FSWatcher, watch } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../kernel/failure.ts'
import type { CaptureEnvironment } from './captured-project.ts'
import { type HookQueue, logLine, queuesOf } from './hook-queue.ts'
import { forgetOldEvents, type IngestHost, ingestQueue } from './ingest.ts'
import { type IngestLock, isIngesting, type ProcessStart, takeIngestLock } from './ingest-lock.ts'
import { skipUndeletable, waitingEvents } from './limits.ts'

export interface FollowHost extends IngestHost {
  /** The folder of the project's main work tree. */
  readonly root: string
  readonly environment: CaptureEnvironment
  readonly processStart: ProcessStart
}

// The followers of this process, by the folder of their queue.
const followers = new Map<string, Follower>()

const everySoOften = 2000
// Retries after failures become slower, up to this pause.
const maxPauseMs = 60_000
const aHookEvent = 100
const maxWaitMs = 2000

/**
 * Ingests the hook queues of a project while a server runs, unless another process does. Never keeps the server alive.
 * Answers how to stop.
 */
export function followQueues(host: FollowHost): () => Promise<void> {
  const own = new Map<string, Follower>()
  const look = () => {
    // A client that runs its hooks in a sandbox starts a second queue.
    for (const queue of queuesOf(host.root, host.environment)) {
      const follower = own.get(queue.folder) ?? new Follower(queue, host)
      own.set(queue.folder, follower)
      followers.set(queue.folder, follower)
      void follower.look()
    }
  }
  const timer = setInterval(look, everySoOften).unref()
  look()
  return async () => {
    clearInterval(timer)
    for (const [folder, follower] of own) {
      if (followers.get(folder) === follower) followers.delete(folder)
      await follower.end()
    }
  }
}

/** Ingests until nothing could be recorded for a while. False where another process does it already. */
export async function ingestUntilQuiet(host: FollowHost, quietFor: number): Promise<boolean> {
  const held = queuesOf(host.root, host.environment).map((queue) => new Follower(queue, host))
  try {
    const taken = await Promise.all(held.map((follower) => follower.look()))
    const own = held.filter((_, n) => taken[n])
    if (own.length === 0) return false
    let quietSince = Date.now()
    let before = countRecorded(own)
    while (Date.now() - quietSince < quietFor) {
      await Promise.race(own.map((follower) => follower.change(500)))
      for (const follower of own) await follower.look()
      // Events that cannot be recorded do not keep this process: the next hook starts it again.
      if (countRecorded(own) > before) quietSince = Date.now()
      before = countRecorded(own)
    }
    return true
  } finally {
    for (const follower of held) await follower.end()
  }
}

function countRecorded(followers: readonly Follower[]): number {
  return followers.reduce((sum, { recorded }) => sum + recorded, 0)
}

/** Records what waits now, or waits for the process that does. Never throws: what fails is in the log. */
export async function ingestNow(host: FollowHost): Promise<void> {
  for (const queue of queuesOf(host.root, host.environment)) await ingestOne(queue, host)
}

async function ingestOne(queue: HookQueue, host: FollowHost): Promise<void> {
  const until = Date.now() + maxWaitMs
  for (;;) {
    if (waitingEvents(queue).length > 0) skipUndeletable(queue)
    if (waitingEvents(queue).length === 0 || Date.now() >= until) return
    const own = followers.get(queue.folder)
    if (own?.isIngesting()) {
      await own.look()
      // A round that was running may have ended just before the last event came.
      if (waitingEvents(queue).length > 0) await own.look()
      return
    }
    if (!isIngesting(queue, host.processStart)) {
      const follower = new Follower(queue, host)
      await follower.look()
      await follower.end()
      return
    }
    await sleep(aHookEvent)
  }
}

class Follower {
  readonly #queue: HookQueue
  readonly #host: FollowHost
  #lock: IngestLock | null = null
  #watcher: FSWatcher | null = null
  #running: Promise<boolean> | null = null
  #changed: () => void = () => undefined
  #failures = 0
  #nextTry = 0
  #lastError = ''
  /** Events that were ingested so far. */
  recorded = 0

  constructor(queue: HookQueue, host: FollowHost) {
    this.#queue = queue
    this.#host = host
  }

  /** Ingests what is there. False where another process has the lock. */
  look(): Promise<boolean> {
    this.#running ??= this.#look().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #look(): Promise<boolean> {
    const queue = this.#queue
    try {
      if (this.#lock === null) {
        if (!existsSync(queue.events)) return true
        this.#lock = takeIngestLock(queue, this.#host.processStart)
        if (this.#lock === null) return false
      }
      this.#lock.touch()
      this.#watch(queue.events)
      if (performance.now() < this.#nextTry || waitingEvents(queue).length === 0) return true
      const { events } = await ingestQueue(queue, this.#host)
      this.recorded += events
      this.#failures = 0
      this.#lastError = ''
    } catch (error) {
      this.#failures += 1
      this.#nextTry =
        performance.now() + Math.min(maxPauseMs, everySoOften * 2 ** Math.min(this.#failures, 6))
      const why = messageOf(error)
      // Log a repeated error once.
      if (why !== this.#lastError) logLine(queue, `ingest: ${why}`)
      this.#lastError = why
      forgetOldEvents(queue)
    }
    return true
  }

  isIngesting(): boolean {
    return this.#lock !== null
  }

  /** Resolves when something changed in the queue, or after a while. */
  async change(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#changed = resolve
    const timer = setTimeout(resolve, milliseconds)
    await promise
    clearTimeout(timer)
  }

  // The watch only speeds this up: polling finds what it misses.
  #watch(folder: string): void {
    if (this.#watcher) return
    try {
      this.#watcher = watch(folder, { persistent: false }, (_, name) => {
        if (!name?.endsWith('.json')) return
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
