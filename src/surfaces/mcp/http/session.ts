import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { Watch } from '../resources/watch.ts'
import { createServer } from '../server.ts'
import { Turns } from '../tools/turns.ts'
import type { Caller } from './caller.ts'
import type { Serving } from './endpoint.ts'
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
    const stream = request.method === 'GET' ? await this.#watchStream() : null
    const over = () => {
      this.#open -= 1
      this.#usedAt = performance.now()
      if (stream !== null) this.#watch.leave(stream)
    }
    try {
      const response = await this.#transport.handleRequest(
        request,
        body === undefined ? {} : { parsedBody: body },
      )
      return whenOver(response, over)
    } catch (error) {
      over()
      throw error
    }
  }

  /** Answers what was asked, then ends. */
  async close(): Promise<void> {
    await this.#turns.idle()
    await new Promise(setImmediate) // the answers are written
    await this.#transport.close()
  }

  /** Whoever opens the stream for notifications hears at least that the list of resources changed. */
  async #watchStream(): Promise<string> {
    const stream = `stream ${crypto.randomUUID()}`
    try {
      await this.#watch.listen(stream)
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error)
      this.#options.options.log(`Changes cannot be announced: ${said}`)
    }
    return stream
  }
}
