import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { closeGracefully } from '../../src/app/serve/server.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { serveAssets } from '../../src/surfaces/http/assets.ts'
import { fileAdmission } from '../../src/surfaces/http/guard/admission.ts'
import { LoginCodes, LoginProofs } from '../../src/surfaces/http/guard/login-proof.ts'
import { Logins } from '../../src/surfaces/http/guard/logins.ts'
import { OpenStreams } from '../../src/surfaces/http/guard/open-streams.ts'
import { type Security, TokenBuckets } from '../../src/surfaces/http/guard/security.ts'
import { TokenFile } from '../../src/surfaces/http/guard/tokens.ts'
import { httpServer } from '../../src/surfaces/http/http-server.ts'
import { createLivePart } from '../../src/surfaces/http/live/live.ts'
import type { Logger } from '../../src/surfaces/http/serving.ts'
import type { McpOverHttpOptions } from '../../src/surfaces/mcp/http/endpoint-parts.ts'
import { createMcpOverHttp, type McpOverHttp } from '../../src/surfaces/mcp/http/mcp-over-http.ts'
import { openProject, type TestProject } from '../support/project.ts'

export interface ServedMcp {
  readonly project: TestProject
  readonly url: string
  readonly mcp: McpOverHttp
}

const version = '0.0.0'
const log: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (message) => process.stderr.write(`${message}\n`),
}

/** A project in a temporary folder on the HTTP server, with whatever is asked of MCP. */
export async function serveProject(options: Partial<McpOverHttpOptions> = {}): Promise<ServedMcp> {
  const project = await openProject()
  const mcp = createMcpOverHttp({
    catalog: async () => catalog,
    toolsets: ['plan', 'track', 'gate'],
    readOnly: false,
    toolNames: 'portable',
    version,
    log: () => undefined,
    ...options,
  })
  const served = {
    key: 'tree',
    name: 'tree',
    folder: project.folder,
    clients: () => [],
    contextOf: (actor: TestProject['context']['actor']) => ({ ...project.context, actor }),
  }
  const live = createLivePart({ version, log })
  const folder = join(project.folder, '..', 'server')
  let port = 0
  const tokens = new TokenFile(folder)
  const logins = new Logins(join(folder, 'sessions.json'))
  const now = () => Date.now()
  const admission = fileAdmission({ tokens, logins, port: () => port, user: 'user:tess', now })
  const security: Security = {
    hosts: () => ({ port, allowed: [] }),
    admission,
    directory: null,
    oidc: null,
    trustProxy: false,
    tokens,
    logins,
    codes: new LoginCodes(),
    proofs: new LoginProofs(),
    streams: new OpenStreams(admission),
    rates: { requests: new TokenBuckets(plenty), mistakes: new TokenBuckets(plenty) },
    insideCommand: async () => null,
    now,
  }
  const server = httpServer(
    {
      projects: [served],
      own: null,
      refresh: async () => undefined,
      catalog,
      version,
      instance: 'test',
      log,
      program: 'waymark',
    },
    { security, patience },
    { live, mcp, assets: serveAssets(folder) },
  )
  server.prependListener('request', namedTokens(security.tokens))
  await new Promise<void>((listening) => server.listen({ port: 0, host: '127.0.0.1', backlog }, listening))
  port = (server.address() as AddressInfo).port
  onTestFinished(() =>
    closeGracefully(server, async () => void (await Promise.all([live.close(), mcp.shutdown()]))),
  )
  return { project, url: `http://127.0.0.1:${port}/mcp`, mcp }
}

// As many as a test likes, on a machine as busy as it may be.
const patience = { headers: 120_000, request: 120_000, look: 30_000 }
// A connection for which there is no room would be tried again after a second, and then after longer and longer.
const backlog = 2_048
const plenty = { burst: 100_000, perSecond: 100_000 }

/** Tests name their tokens, and other people's clients send none: the real one is put in place. */
function namedTokens(tokens: TokenFile): (request: IncomingMessage) => void {
  const names = ['agent', 'ada', 'grace']
  const secrets = new Map(
    names.map((name) => [
      `Bearer ${name}`,
      tokens.add({ name, kind: 'agent', role: null, explicit: name !== 'agent' }),
    ]),
  )
  return ({ headers }) => {
    headers.authorization = `Bearer ${secrets.get(headers.authorization ?? 'Bearer agent')}`
  }
}
