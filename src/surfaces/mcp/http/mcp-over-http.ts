import type { Actor } from '../../../domain/actor.ts'
import { JournalFeed } from '../resources/journal-feed.ts'
import { offeredTools } from '../tools/offered-tools.ts'
import { Endpoint } from './endpoint.ts'
import type { McpOverHttpOptions } from './options.ts'
import type { McpProject } from './project.ts'
import { refuse } from './refusal.ts'

export interface McpOverHttp {
  /** Answers a request whose origin, token and size were checked. */
  handle(request: Request, project: McpProject, actor: Actor): Promise<Response>
  /** Ends at once what is open for somebody who is let in no more. */
  revoke(actor: Actor): void
  /** Answers what is asked, then ends every stream and session. Later requests are refused. */
  shutdown(): Promise<void>
}

/** Serves MCP over Streamable HTTP, in both eras of the protocol. */
export function createMcpOverHttp(options: McpOverHttpOptions): McpOverHttp {
  const endpoints = new Map<string, Endpoint>()
  const tools = offeredTools(options)
  let stopping = false

  const endpointOf = (project: McpProject, actor: Actor): Endpoint => {
    const known = endpoints.get(project.key)
    if (known) return known
    const contextOf = () => project.contextOf(actor)
    const feed = new JournalFeed({ store: () => contextOf().store, log: options.log })
    const endpoint = new Endpoint({ options, project, tools, feed, contextOf })
    endpoints.set(project.key, endpoint)
    return endpoint
  }

  return {
    handle: async (request, project, actor) => {
      if (stopping) return refuse({ status: 503, message: 'The server is stopping.' })
      return endpointOf(project, actor).handle(request, actor)
    },
    revoke: (actor) => {
      for (const endpoint of endpoints.values()) endpoint.revoke(actor)
    },
    shutdown: async () => {
      stopping = true
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()))
    },
  }
}
