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
  /** Called whenever something changed, for what else may be announced. */
  readonly changed: () => void
}

/** Serves `resources/subscribe` and `resources/unsubscribe`, which only the older era has. */
export function subscribeTo(server: Server, { watch, log }: SubscriptionContext): void {
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (!targetOf(uri)) throw new ResourceNotFoundError(uri)
    if (watch.size >= most && !watch.isListening(uri)) throw tooManySubscriptions()
    await explainErrors({ log, data: { uri } }, () => watch.listen(uri))
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    watch.leave(params.uri)
    return {}
  })
}

/** Sends what changed. In the newer era the SDK passes on only what each `subscriptions/listen` asked for. */
export function announceChanges(server: Server, { watch, era, log, changed }: AnnouncementContext): void {
  watch.tell(({ uris, list }) => {
    const wanted = uris.filter((uri) => era === 'modern' || watch.isListening(uri))
    const sent = wanted.map((uri) => server.sendResourceUpdated({ uri }))
    if (list) sent.push(server.sendResourceListChanged())
    changed()
    Promise.all(sent).catch((error: unknown) => log(`A change could not be announced: ${String(error)}`))
  })
}

// More than anybody follows, few enough to keep for every session.
const most = 1000

function tooManySubscriptions(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `${most} resources are subscribed to on this connection, which is the most. Unsubscribe from one first.`,
  )
}

/** What one connection wants to hear of. It follows the log while that is anything. */
export class ResourceWatch {
  readonly #feed: EventLogFeed
  readonly #listeners = new Set<string>()
  #following: Promise<() => void> | null = null
  #announce: ResourceListener = () => undefined
  #held: PendingChanges | null = null

  constructor(feed: EventLogFeed) {
    this.#feed = feed
  }

  /** Whom to tell. The last one given counts. */
  tell(announce: ResourceListener): void {
    this.#announce = announce
  }

  /** Resolves when nothing that is recorded from now on will be missed. */
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

  /** How many it listens for. */
  get size(): number {
    return this.#listeners.size
  }

  /** Nobody can be told at present: what is listened for is kept. */
  hold(): void {
    this.#held ??= { uris: new Set(), list: false }
  }

  get isHeld(): boolean {
    return this.#held !== null
  }

  /** Tells what was kept, each address once, and from now on what happens. */
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
      () => undefined, // whoever listened was told
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
 * Watches while `subscriptions/listen` requests are open. The SDK serves those requests by itself, ahead of the server,
 * so they are seen on the line: acknowledged means open, cancelled means ended.
 */
export function listenRequests({ watch, log }: SubscriptionContext) {
  return {
    /** Awaited before an acknowledgement is written: what is recorded after it is announced for sure. */
    beforeSend: async (message: JSONRPCMessage): Promise<void> => {
      if (!('method' in message) || message.method !== 'notifications/subscriptions/acknowledged') return
      if (!hasChangeFilter(message.params?.['notifications'])) return
      try {
        await watch.listen(keyOf(message.params?._meta?.[SUBSCRIPTION_ID_META_KEY]))
      } catch (error) {
        log(`Changes cannot be announced: ${messageOf(error)}`)
      }
    },
    received: (message: JSONRPCMessage): void => {
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
 * Looks after a call whether other resources are listed than before. For clients of the older era, which cannot
 * subscribe to the list: following all log entries for each of them would cost more than the hint is worth.
 */
export class ListChanges {
  readonly #options: EventLogFeedOptions
  #seen: number | null = null

  constructor(options: EventLogFeedOptions) {
    this.#options = options
  }

  /** The client is about to read the list: what changes it from now on is news. */
  async begin(): Promise<void> {
    this.#seen = await this.#store.view(({ eventLog }) => eventLog.head())
  }

  /** Tells the client when the list changed since it read it, or since it was last told. */
  async tell(server: Server): Promise<void> {
    if (this.#seen === null) return
    try {
      if (await this.#changedAfter(this.#seen)) await server.sendResourceListChanged()
    } catch (error) {
      this.#options.log(`The list of resources may have changed, which could not be told: ${String(error)}`)
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
