import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { JournalFeed } from './resources/journal-feed.ts'
import { listenRequests } from './resources/listen-requests.ts'
import { Watch } from './resources/watch.ts'
import { createServer } from './server.ts'
import { type StdioStreams, StdioTransport } from './stdio-transport.ts'
import type { Surface } from './surface.ts'
import { offeredTools } from './tools/offered-tools.ts'
import { Turns } from './tools/turns.ts'

/**
 * Serves MCP on standard input and output, in both eras of the protocol. Resolves when the client has left and what it
 * asked for is done and answered; closing the store is the caller's.
 */
export async function serveMcpOverStdio(
  surface: Surface,
  streams: StdioStreams = { input: process.stdin, output: process.stdout },
): Promise<void> {
  keepOutputForProtocol(surface.log)
  process.on('unhandledRejection', (reason) => {
    surface.log(`Unhandled: ${reason instanceof Error ? reason.stack : String(reason)}`)
  })
  const tools = offeredTools(surface)
  const turns = new Turns()
  const watch = new Watch(
    new JournalFeed({ store: () => surface.contextOf(undefined).store, log: surface.log }),
  )
  const { promise: clientLeft, resolve: finished } = Promise.withResolvers<void>()
  const transport = new StdioTransport(streams, { ...listenRequests({ watch, log: surface.log }), finished })
  const handle = serveStdio(({ era }) => createServer(surface, { era, tools, turns, watch }), {
    transport,
    onerror: (error) => surface.log(`MCP: ${error.message}`),
  })
  await clientLeft
  watch.stop()
  await handle.close() // ends open subscriptions in good form
  await turns.idle()
}

/** Whatever a library prints would break the protocol: it goes to standard error. */
function keepOutputForProtocol(log: Surface['log']): void {
  const told = new Writable({
    write: (chunk, _encoding, done) => {
      log(String(chunk).trimEnd())
      done()
    },
  })
  globalThis.console = new Console(told)
}
