import {
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/server'
import type { FollowableStore } from '../../../events/operations/follow.ts'
import { messageOf } from '../../../kernel/failure.ts'
import { explainErrors } from '../protocol-error.ts'
import {
  changedResources,
  type EventLogFeed,
  type EventLogFeedOptions,
  type ResourceChanges,
  type ResourceListener,
} from './event-feed.ts'
import { targetOf } from './resource-uri.ts'

export interface SubscriptionContext {
  readonly watch: ResourceWatch
  readonly log: (line: string) => void
}

export interface AnnouncementContext extends SubscriptionContext {
  readonly era: 'legacy' | 'modern'
  /** Called after each change, for other notifications. */
  readonly onChange: () => void
}

/** Serves `resources/subscribe` and `resources/unsubscribe` of the older era. */
export function subscribeTo(server: Server, { watch, log }: SubscriptionContext): void {
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (!targetOf(uri)) throw new ResourceNotFoundError(uri)
    if (watch.size >= maxSubscriptions && !watch.isListening(uri)) throw tooManySubscriptions()
    await explainErrors({ log, data: { uri } }, () => watch.listen(uri))
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    watch.leave(params.uri)
    return {}
  })
}

/** Sends changes. In the newer era the SDK filters them for each `subscriptions/listen`. */
export function announceChanges(server: Server, { watch, era, log, onChange }: AnnouncementContext): void {
  watch.tell(({ uris, list }) => {
    const wanted = uris.filter((uri) => era === 'modern' || watch.isListening(uri))
    const sent = wanted.map((uri) => server.sendResourceUpdated({ uri }))
    if (list) sent.push(server.sendResourceListChanged())
    onChange()
    Promise.all(sent).catch((error: unknown) => log(`A change could not be announced: ${String(error)}`))
  })
}

// More than any client needs, and few enough to store for every session.
const maxSubscriptions = 1000

function tooManySubscriptions(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `${maxSubscriptions} resources are subscribed to on this connection, which is the most. Unsubscribe from one first.`,
  )
}

/** The subscriptions of one connection. It follows the log while there are any. */
export class ResourceWatch {
  readonly #feed: EventLogFeed
  readonly #listeners = new Set<string>()
  #following: Promise<() => void> | null = null
  #announce: ResourceListener = () => undefined
  #held: PendingChanges | null = null

  constructor(feed: EventLogFeed) {
    this.#feed = feed
  }

  /** Sets the listener, replacing the last one. */
  tell(announce: ResourceListener): void {
    this.#announce = announce
  }

  /** Resolves when it will miss no further log entry. */
  async listen(listener: string): Promise<void> {
    this.#listeners.add(listener)
    this.#following ??= this.#feed.follow((changed) => this.#tell(changed))
    try {
      await this.#following
    } catch (error) {
      this.leave(listener)
      throw error
    }
  }

  leave(listener: string): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size === 0) this.stop()
  }

  get isFollowing(): boolean {
    return this.#following !== null
  }

  isListening(listener: string): boolean {
    return this.#listeners.has(listener)
  }

  /** The number of subscriptions. */
  get size(): number {
    return this.#listeners.size
  }

  /** Removes the listener, and keeps changes for the next one. */
  hold(): void {
    this.#held ??= { uris: new Set(), list: false }
  }

  get isHeld(): boolean {
    return this.#held !== null
  }

  /** Sends the kept changes, each URI once, then new ones. */
  release(): void {
    const held = this.#held
    this.#held = null
    if (held && (held.uris.size > 0 || held.list)) this.#announce({ uris: [...held.uris], list: held.list })
  }

  stop(): void {
    this.#listeners.clear()
    const following = this.#following
    this.#following = null
    following?.then(
      (stop) => stop(),
      () => undefined, // the listeners got the error
    )
  }

  #tell(changed: ResourceChanges): void {
    if (!this.#held) {
      this.#announce(changed)
      return
    }
    for (const uri of changed.uris) if (this.#listeners.has(uri)) this.#held.uris.add(uri)
    this.#held.list ||= changed.list
  }
}

interface PendingChanges {
  readonly uris: Set<string>
  list: boolean
}

/**
 * Follows changes while `subscriptions/listen` requests are open. The SDK serves these requests itself, so they are detected
 * in the messages: acknowledged means open, canceled means ended.
 */
export function listenRequests({ watch, log }: SubscriptionContext) {
  return {
    /** Awaited before an acknowledgement, so that later changes are not missed. */
    beforeSend: async (message: JSONRPCMessage): Promise<void> => {
      if (!('method' in message) || message.method !== 'notifications/subscriptions/acknowledged') return
      if (!hasChangeFilter(message.params?.['notifications'])) return
      try {
        await watch.listen(keyOf(message.params?._meta?.[SUBSCRIPTION_ID_META_KEY]))
      } catch (error) {
        log(`Changes cannot be announced: ${messageOf(error)}`)
      }
    },
    noteReceived: (message: JSONRPCMessage): void => {
      if (!('method' in message) || message.method !== 'notifications/cancelled') return
      watch.leave(keyOf(message.params?.['requestId']))
    },
  }
}

function hasChangeFilter(wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return false
  return ['resourceSubscriptions', 'resourcesListChanged', 'toolsListChanged'].some((name) => name in wanted)
}

function keyOf(id: unknown): string {
  return `listen ${JSON.stringify(id)}`
}

const maxEvents = 200

/**
 * Checks after a call whether the list of resources changed. It is for clients of the older era, which cannot subscribe to
 * the list: following the log for each of them would cost too much.
 */
export class ListChanges {
  readonly #options: EventLogFeedOptions
  #seen: number | null = null

  constructor(options: EventLogFeedOptions) {
    this.#options = options
  }

  /** The client reads the list now: later changes are new to it. */
  async begin(): Promise<void> {
    this.#seen = await this.#store.view(({ eventLog }) => eventLog.head())
  }

  /** Notifies the client if the list changed since its last read or notification. */
  async tell(server: Server): Promise<void> {
    if (this.#seen === null) return
    try {
      if (await this.#changedAfter(this.#seen)) await server.sendResourceListChanged()
    } catch (error) {
      this.#options.log(`Cannot announce that the list of resources may have changed: ${String(error)}`)
    }
  }

  async #changedAfter(after: number): Promise<boolean> {
    const events = await this.#store.view(({ eventLog }) => eventLog.since(after, maxEvents))
    this.#seen = events.at(-1)?.seq ?? after
    return changedResources(events).list
  }

  get #store(): FollowableStore {
    return this.#options.store()
  }
}
