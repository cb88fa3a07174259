import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { createServer } from '../server.ts'
import { Turns } from '../tools/turns.ts'
import { type Caller, connectionOf } from './caller.ts'
import { feedBus } from './feed-bus.ts'
import { defaultLimits } from './options.ts'
import type { Posted, Serving } from './project.ts'
import { refusedArguments } from './refused-arguments.ts'
import { surfaceFor } from './surface-for.ts'
import { whenOver } from './when-over.ts'

interface Exchange {
  readonly caller: Caller
  readonly turns: Turns
}

/** 2026-07-28: every request is served by itself. */
export class ModernLeg {
  readonly #serving: Serving
  readonly #handler: McpHttpHandler
  readonly #exchanges = new Map<Request, Exchange>()

  constructor(serving: Serving) {
    const { feed, options, tools, contextOf } = serving
    this.#serving = serving
    this.#handler = createMcpHandler(({ requestInfo }) => this.#server(requestInfo), {
      legacy: 'reject',
      bus: feedBus(feed, { log: options.log, listIsWhole: () => tools.isWhole(contextOf()) }),
      maxSubscriptions: options.limits?.subscriptions ?? defaultLimits.subscriptions,
      onerror: (error) => options.log(`MCP: ${error.message}`),
    })
  }

  async handle({ request, body, caller }: Posted): Promise<Response> {
    const mistake = refusedArguments(body)
    if (mistake) return mistake
    const exchange = { caller, turns: new Turns() }
    this.#exchanges.set(request, exchange)
    const over = () => void exchange.turns.idle().then(() => this.#exchanges.delete(request))
    // Held while the subscription is made, so that it is acknowledged only when nothing will be missed.
    const release = isListen(body) ? await this.#follow() : nothing
    try {
      return whenOver(await this.#handler.fetch(request, { parsedBody: body }), over)
    } catch (error) {
      over()
      throw error
    } finally {
      release()
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#exchanges.values()].map(({ turns }) => turns.idle()))
    await this.#handler.close()
  }

  #server(request: Request | undefined) {
    const exchange = request && this.#exchanges.get(request)
    if (!exchange) throw new Error('A server was asked for outside of a request.')
    const { caller, turns } = exchange
    const { options, tools } = this.#serving
    const surface = surfaceFor(this.#serving, caller, connectionOf(caller))
    return (options.serverOf ?? createServer)(surface, { era: 'modern', tools, turns, watch: null })
  }

  async #follow(): Promise<() => void> {
    const { feed, options } = this.#serving
    try {
      return await feed.follow(nothing)
    } catch (error) {
      options.log(`Changes cannot be announced: ${error instanceof Error ? error.message : String(error)}`)
      return nothing
    }
  }
}

function isListen(body: unknown): boolean {
  return (
    typeof body === 'object' && body !== null && 'method' in body && body.method === 'subscriptions/listen'
  )
}

function nothing(): void {
  // only holds the follower
}
