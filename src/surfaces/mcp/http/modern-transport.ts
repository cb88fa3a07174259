import { createMcpHandler, type McpHttpHandler, type ServerEventBus } from '@modelcontextprotocol/server'
import { messageOf } from '../../../kernel/failure.ts'
import type { EventLogFeed } from '../resources/event-feed.ts'
import { createServer } from '../server.ts'
import { CallOrder } from '../tools/call-order.ts'
import {
  connectionOf,
  createSurface,
  defaultLimits,
  type EndpointParts,
  type PostedMessage,
  type RequestSender,
} from './endpoint-parts.ts'
import { onResponseEnd, refusedArguments } from './responses.ts'

interface McpExchange {
  readonly caller: RequestSender
  readonly order: CallOrder
}

/** 2026-07-28: every request is independent. */
export class ModernTransport {
  readonly #parts: EndpointParts
  readonly #handler: McpHttpHandler
  readonly #exchanges = new Map<Request, McpExchange>()

  constructor(parts: EndpointParts) {
    const { feed, options, tools, contextOf } = parts
    this.#parts = parts
    this.#handler = createMcpHandler(({ requestInfo }) => this.#server(requestInfo), {
      legacy: 'reject',
      bus: feedBus(feed, { log: options.log, listIsWhole: () => tools.isWhole(contextOf()) }),
      maxSubscriptions: options.limits?.subscriptions ?? defaultLimits.subscriptions,
      onerror: (error) => options.log(`MCP: ${error.message}`),
    })
  }

  async handle({ request, body, caller }: PostedMessage): Promise<Response> {
    const mistake = refusedArguments(body)
    if (mistake) return mistake
    const exchange = { caller, order: new CallOrder() }
    this.#exchanges.set(request, exchange)
    const over = () => void exchange.order.idle().then(() => this.#exchanges.delete(request))
    // The acknowledgement waits for the subscription, so that no change is missed.
    const release = isListen(body) ? await this.#follow() : doNothing
    try {
      return onResponseEnd(await this.#handler.fetch(request, { parsedBody: body }), over)
    } catch (error) {
      over()
      throw error
    } finally {
      release()
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#exchanges.values()].map(({ order }) => order.idle()))
    await this.#handler.close()
  }

  #server(request: Request | undefined) {
    const exchange = request && this.#exchanges.get(request)
    if (!exchange) throw new Error('A server was requested outside of an exchange.')
    const { caller, order } = exchange
    const { options, tools } = this.#parts
    const surface = createSurface(this.#parts, caller, connectionOf(caller))
    return (options.serverOf ?? createServer)(surface, { era: 'modern', tools, order, watch: null })
  }

  async #follow(): Promise<() => void> {
    const { feed, options } = this.#parts
    try {
      return await feed.follow(doNothing)
    } catch (error) {
      options.log(`Changes cannot be announced: ${messageOf(error)}`)
      return doNothing
    }
  }
}

function isListen(body: unknown): boolean {
  return (
    typeof body === 'object' && body !== null && 'method' in body && body.method === 'subscriptions/listen'
  )
}

function doNothing(): void {
  // keeps the follower running
}

export interface FeedBusOptions {
  readonly log: (line: string) => void
  /** Whether the list of tools is complete. */
  readonly listIsWhole: () => Promise<boolean>
}

/** The events of `subscriptions/listen` streams. All come from the log, so `publish` does nothing. */
function feedBus(feed: EventLogFeed, { log, listIsWhole }: FeedBusOptions): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe: (listener) => {
      const wasWhole = listIsWhole()
      let isAnnounced = false
      const announceGrowth = async () => {
        if (isAnnounced || (await wasWhole) || !(await listIsWhole()) || isAnnounced) return
        isAnnounced = true
        listener({ kind: 'tools_list_changed' })
      }
      const following = feed.follow(({ uris, list }) => {
        for (const uri of uris) listener({ kind: 'resource_updated', uri })
        if (list) listener({ kind: 'resources_list_changed' })
        announceGrowth().catch((error: unknown) => log(`Could not read the list of tools: ${String(error)}`))
      })
      following.catch((error: unknown) => log(`Changes cannot be announced: ${String(error)}`))
      return () => {
        following.then(
          (stop) => stop(),
          () => undefined, // already logged
        )
      }
    },
  }
}
