import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Context } from '../../../../src/kernel/operations/operation.ts'
import { createLivePart } from '../../../../src/surfaces/http/live/live.ts'
import { type LiveLimits, liveLimits } from '../../../../src/surfaces/http/live/reader.ts'
import type { LivePart } from '../../../../src/surfaces/http/parts.ts'
import type { Logger } from '../../../../src/surfaces/http/serving.ts'

export interface LiveServer {
  readonly port: number
  readonly live: LivePart
  close(): Promise<void>
}

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

/** The live feed of one project on a bare HTTP server, at a port that the system chooses. */
export async function openLiveServer(
  context: Pick<Context, 'store' | 'clock'>,
  { port = 0, ...limits }: Partial<LiveLimits> & { readonly port?: number } = {},
): Promise<LiveServer> {
  const live = createLivePart({ version: '1.2.3', log: quiet }, { ...liveLimits, ...limits })
  const project = {
    key: 'tree',
    name: 'tree',
    folder: '/tree',
    clients: () => [],
    setup: async () => ({ set_up: [], on_path: false }),
    contextOf: () => context as Context, // the feed asks for these two alone
  }
  const server = createServer()
  const reading = { project, watchIdentities: null }
  server.on('upgrade', (request, socket, head) => live.upgrade(request, socket, head, reading))
  await new Promise<void>((listening) => {
    server.listen(port, '127.0.0.1', listening)
  })
  return {
    port: portOf(server),
    live,
    async close() {
      await live.close()
      await new Promise((closed) => {
        server.close(closed)
      })
    },
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port // it listens on TCP
}
