import type { Server, Tool } from '@modelcontextprotocol/server'
import type { Context } from '../../../operations/context.ts'
import type { Watch } from '../resources/watch.ts'
import type { OfferedTools } from './offered-tools.ts'

interface ToolNewsOptions {
  readonly watch: Watch | null
  readonly log: (line: string) => void
}

/** Tells a client once that more tools are listed than it was given. */
export class ToolNews {
  readonly #tools: OfferedTools
  readonly #options: ToolNewsOptions
  #waits = false

  constructor(tools: OfferedTools, options: ToolNewsOptions) {
    this.#tools = tools
    this.#options = options
  }

  /** The list for a client; where something is held back, what is recorded from now on is looked at. */
  async list(context: Context): Promise<readonly Tool[]> {
    const { tools, isWhole } = await this.#tools.list(context)
    this.#waits = !isWhole
    if (this.#waits) await this.#listen()
    return tools
  }

  async tell(server: Server, context: Context): Promise<void> {
    if (!this.#waits || this.#options.watch?.isHeld) return
    try {
      if (!(await this.#tools.isWhole(context)) || !this.#waits) return
      this.#waits = false
      this.#options.watch?.leave(listener)
      await server.sendToolListChanged()
    } catch (error) {
      this.#options.log(`The list of tools may have changed, which could not be told: ${String(error)}`)
    }
  }

  /** Another process may begin the first run. Where that cannot be heard of, the next call looks. */
  async #listen(): Promise<void> {
    try {
      await this.#options.watch?.listen(listener)
    } catch (error) {
      this.#options.log(`Changes cannot be announced: ${String(error)}`)
    }
  }
}

const listener = 'tools'
