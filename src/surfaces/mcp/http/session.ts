import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Actor } from '../../../domain/actor.ts'
import { Watch } from '../resources/watch.ts'
import { createServer } from '../server.ts'
import { Turns } from '../tools/turns.ts'
import type { Caller } from './caller.ts'
import type { Serving } from './project.ts'
import { surfaceFor } from './surface-for.ts'
import { whenOver } from './when-over.ts'

export interface SessionOptions extends Serving {
  readonly caller: Caller
  readonly ended: (session: Session) => void
}

/** What a client of the older era and the server know of each other, over as many requests as they like. */
export class Session {
  readonly id = crypto.randomUUID()
  /** Whose token began it. */
  readonly owner: string
  readonly #options: SessionOptions
  readonly #transport: WebStandardStreamableHTTPServerTransport
  readonly #turns = new Turns()
  readonly #watch: Watch
  #open = 1 // it is not unused before it was begun
  #usedAt = performance.now()

  constructor(options: SessionOptions) {
    this.#options = options
    this.owner = options.caller.owner
    this.#watch = new Watch(options.feed)
    this.#watch.hold()
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.id,
    })
  }

  /** Answers the request that begins it. */
  async begin(request: Request, body: unknown): Promise<Response> {
    const { caller, tools, options } = this.#options
    const surface = surfaceFor(this.#options, caller, this.id.slice(0, 8))
    const connection = { era: 'legacy', tools, turns: this.#turns, watch: this.#watch } as const
    const server = (options.serverOf ?? createServer)(surface, connection)
    server.onclose = () => {
      this.#watch.stop()
      this.#options.ended(this)
    }
    await server.connect(this.#transport)
    const response = await this.handle(request, body)
    this.#open -= 1
    if (!response.ok) await this.close()
    return response
  }

  /** Milliseconds since its last request, null while one of its streams is open. */
  get unusedFor(): number | null {
    return this.#open > 0 ? null : performance.now() - this.#usedAt
  }

  async handle(request: Request, body?: unknown): Promise<Response> {
    this.#open += 1
    const over = () => {
      this.#open -= 1
      this.#usedAt = performance.now()
    }
    try {
      if (request.method === 'GET') return whenOver(await this.#stream(request), over)
      const parsed = body === undefined ? {} : { parsedBody: body }
      return whenOver(await this.#transport.handleRequest(request, parsed), over)
    } catch (error) {
      over()
      throw error
    }
  }

  belongsTo({ name, kind, channel }: Actor): boolean {
    const { actor } = this.#options.caller
    return actor.name === name && actor.kind === kind && actor.channel === channel
  }

  /** Ends now, whatever was asked. */
  async breakOff(): Promise<void> {
    await this.#transport.close()
  }

  /** Answers what was asked, then ends. */
  async close(): Promise<void> {
    await this.#turns.idle()
    await new Promise(setImmediate) // the answers are written
    await this.#transport.close()
  }

  /** The stream of notifications. What was to be told while there was none is told now. */
  async #stream(request: Request): Promise<Response> {
    await this.#listenForList()
    const response = await this.#transport.handleRequest(request)
    if (!response.ok) return response
    this.#watch.release()
    return whenOver(response, () => this.#watch.hold())
  }

  /** Whoever opened the stream once hears at least that other resources are listed, as long as the session lasts. */
  async #listenForList(): Promise<void> {
    try {
      await this.#watch.listen('list')
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error)
      this.#options.options.log(`Changes cannot be announced: ${said}`)
    }
  }
}
