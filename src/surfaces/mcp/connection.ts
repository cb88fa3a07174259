import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { EventLogFeed } from './resources/event-feed.ts'
import { listenRequests, ResourceWatch } from './resources/subscriptions.ts'
import { createServer } from './server.ts'
import type { StdioTransport } from './stdio.ts'
import type { Surface } from './surface.ts'
import { CallOrder } from './tools/call-order.ts'
import { offeredTools } from './tools/tool-list.ts'

/** Serves the client on standard input and output. `end` waits for running calls. */
export function connect(surface: Surface, transport: StdioTransport): { end(): Promise<void> } {
  const { log } = surface
  const tools = offeredTools(surface)
  const order = new CallOrder()
  const watch = new ResourceWatch(new EventLogFeed({ store: () => surface.contextOf(undefined).store, log }))
  transport.observe(listenRequests({ watch, log }))
  const handle = serveStdio(({ era }) => createServer(surface, { era, tools, order, watch }), {
    transport,
    onerror: (error) => log(`MCP: ${error.message}`),
  })
  return {
    end: async () => {
      watch.stop()
      await handle.close() // ends open subscriptions properly
      await order.idle()
    },
  }
}
