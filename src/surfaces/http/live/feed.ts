import { messageOf } from '../../../kernel/failure.ts'
import type { Clock } from '../../../kernel/ports/clock.ts'
import type { Store } from '../../../store/ports/store.ts'
import type { Logger } from '../serving.ts'
import { framesOf, type ProjectEventFrames } from './frames.ts'
import { closeCodes, type LiveLimits, type LiveReader } from './reader.ts'

export interface FeedOptions {
  readonly store: Store
  readonly clock: Clock
  /** The project's key and Waymark's version, for the greeting. */
  readonly project: string
  readonly version: string
  readonly log: Logger
  readonly limits: LiveLimits
}

/** The maximum of log entries per read of the database. */
const batch = 100
const replaced = 'The log was replaced.'

/** The live feed of one project. One follower serves all readers, and each log entry is serialized once. */
export class LiveFeed {
  readonly #options: FeedOptions
  readonly #log: FramePages
  readonly #readers = new Set<LiveReader>()
  #following: AbortController | null = null
  /** The last log entry that was sent to live readers. */
  #position = 0

  constructor(options: FeedOptions) {
    this.#options = options
    this.#log = new FramePages(options)
  }

  /** Greets a reader and sends everything after `since`, or only new entries. */
  async join(reader: LiveReader, since: number | null): Promise<void> {
    this.#readers.add(reader)
    reader.whenClosed(() => this.#leave(reader))
    const position = this.#position
    const head = await this.#options.store.view(({ eventLog: log }) => log.head())
    if (!reader.isOpen) return
    // A log that is shorter than what was sent has been replaced.
    if (this.#following && head < position) this.#reloadOthers(reader, head)
    if (!this.#following) this.#begin(head)
    const { project, version } = this.#options
    reader.say({ event: 'hello', seq: head, project, version })
    const reason = since === null ? null : this.#cannotResume(since, head)
    if (reason !== null) return reload(reader, { reason, seq: head })
    reader.position = since ?? head
    await this.#catchUp(reader)
  }

  readers(): Iterable<LiveReader> {
    return this.#readers
  }

  #cannotResume(since: number, head: number): string | null {
    if (since > head) return `The log ends at ${head}, before ${since}: it was replaced.`
    if (head - since <= this.#options.limits.behind) return null
    return `${head - since} log entries happened since ${since}: read the project again.`
  }

  /** Sends from the log until the reader has caught up; then the reader is live. */
  async #catchUp(reader: LiveReader): Promise<void> {
    const following = this.#following
    try {
      while (reader.isOpen && this.#following === following) {
        if (!(await reader.waitForRoom())) return reader.close(closeCodes.slow, 'You read too slowly.')
        if (reader.position >= this.#position) {
          reader.isLive = true
          return
        }
        const projectEvents = await this.#log.after(reader.position)
        const last = projectEvents.at(-1)?.seq ?? 0
        if (last <= reader.position) return reload(reader, { reason: replaced, seq: last })
        reader.take(projectEvents)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  #begin(head: number): void {
    const following = new AbortController()
    this.#following = following
    this.#position = head
    void this.#follow(head, following)
  }

  async #follow(head: number, { signal }: AbortController): Promise<void> {
    const { store, clock } = this.#options
    try {
      for await (const projectEvents of store.follow(head, signal)) {
        for (let at = 0; at < projectEvents.length && !signal.aborted; at += batch) {
          const some = projectEvents.slice(at, at + batch)
          const frames = await store.view((reads) => framesOf(some, reads, clock.now()))
          if (!signal.aborted) this.#send(frames)
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
    }
  }

  #send(frames: readonly ProjectEventFrames[]): void {
    this.#position = frames.at(-1)?.seq ?? this.#position
    for (const reader of this.#readers) {
      if (!reader.isLive) continue
      reader.take(frames)
      if (reader.position >= this.#position) continue
      reader.isLive = false
      void this.#catchUp(reader)
    }
  }

  #leave(reader: LiveReader): void {
    this.#readers.delete(reader)
    if (this.#readers.size === 0) this.#stop()
  }

  #stop(): void {
    this.#following?.abort()
    this.#following = null
    this.#position = 0
  }

  /** Readers of the old log must reload. */
  #reloadOthers(newcomer: LiveReader, head: number): void {
    this.#stop()
    for (const reader of this.#readers) {
      if (reader !== newcomer) reload(reader, { reason: replaced, seq: head })
    }
  }

  #fail(error: unknown): void {
    const message = messageOf(error)
    this.#options.log.warn('The live feed ended; its readers will reconnect.', {
      project: this.#options.project,
      error: message,
    })
    this.#stop()
    for (const reader of this.#readers) reader.close(closeCodes.later, 'The record cannot be read now.')
  }
}

function reload(reader: LiveReader, why: { readonly reason: string; readonly seq: number }): void {
  reader.say({ event: 'reload', ...why })
  reader.close(closeCodes.reload, 'Read the project again.')
}

const page = 100
// Readers that catch up at the same time share a page for this time, in milliseconds.
const sharedFor = 1_000

/** Past log entries in pages, serialized once for all readers that catch up. */
class FramePages {
  readonly #from: { readonly store: Store; readonly clock: Clock }
  readonly #pages = new Map<number, Promise<readonly ProjectEventFrames[]>>()

  constructor(from: { readonly store: Store; readonly clock: Clock }) {
    this.#from = from
  }

  /** The next log entries after a position, in order; none only at the end. */
  async after(position: number): Promise<readonly ProjectEventFrames[]> {
    const first = position - (position % page)
    const shared = await this.#page(first)
    // A page that was not full may have grown.
    if ((shared.at(-1)?.seq ?? first) > position) return shared
    this.#pages.delete(first)
    return this.#page(first)
  }

  #page(first: number): Promise<readonly ProjectEventFrames[]> {
    const cached = this.#pages.get(first)
    if (cached) return cached
    const reading = this.#read(first)
    this.#pages.set(first, reading)
    const forget = () => {
      if (this.#pages.get(first) === reading) this.#pages.delete(first)
    }
    setTimeout(forget, sharedFor).unref()
    reading.catch(forget)
    return reading
  }

  #read(first: number): Promise<readonly ProjectEventFrames[]> {
    const { store, clock } = this.#from
    return store.view(async (reads) => framesOf(await reads.eventLog.since(first, page), reads, clock.now()))
  }
}
