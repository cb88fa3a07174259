import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { Hono } from 'hono'
import { onTestFinished } from 'vitest'
import type { Actor } from '../../src/domain/actor.ts'
import { catalog } from '../../src/operations/catalog.ts'
import { createMcpOverHttp, type McpOverHttp } from '../../src/surfaces/mcp/http/mcp-over-http.ts'
import type { McpOverHttpOptions } from '../../src/surfaces/mcp/http/options.ts'
import { openProject, type TestProject } from '../support/project.ts'

export interface ServedMcp {
  readonly project: TestProject
  readonly url: string
  readonly mcp: McpOverHttp
  /** Everything it logged. */
  readonly log: readonly string[]
}

/** MCP of a project in a temporary folder, on a port of the loopback device. The token of a request names its actor. */
export async function serveProject(options: Partial<McpOverHttpOptions> = {}): Promise<ServedMcp> {
  const project = await openProject()
  const log: string[] = []
  const mcp = createMcpOverHttp({
    catalog: async () => catalog,
    toolsets: ['plan', 'track', 'gate'],
    readOnly: false,
    toolNames: 'portable',
    version: '0.0.0',
    log: (line) => log.push(line),
    ...options,
  })
  const served = {
    key: 'tree',
    contextOf: (actor: Actor) => ({ ...project.context, actor }),
  }
  const app = new Hono()
  app.all('/mcp', ({ req: { raw } }) => {
    const refused =
      hostHeaderValidationResponse(raw, localhostAllowedHostnames()) ??
      originValidationResponse(raw, localhostAllowedOrigins())
    return refused ?? mcp.handle(raw, served, actorOf(raw))
  })
  const { promise: listening, resolve } = Promise.withResolvers<AddressInfo>()
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, resolve)
  const { port } = await listening
  onTestFinished(async () => {
    await mcp.shutdown()
    await new Promise((closed) => {
      server.close(closed)
      if ('closeAllConnections' in server) server.closeAllConnections()
    })
  })
  return { project, url: `http://127.0.0.1:${port}/mcp`, mcp, log }
}

function actorOf(request: Request): Actor {
  const name = request.headers.get('authorization')?.replace('Bearer ', '') ?? 'agent'
  return { name, kind: 'agent', role: null, channel: 'http' }
}
