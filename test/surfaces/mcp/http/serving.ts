import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { closeGracefully } from '../../../../src/app/serve/server.ts'
import type { Actor } from '../../../../src/kernel/actor.ts'
import { catalog } from '../../../../src/kernel/operations/catalog.ts'
import type { Context } from '../../../../src/kernel/operations/operation.ts'
import { randomIds } from '../../../../src/store/random-ids.ts'
import { serveAssets } from '../../../../src/surfaces/http/assets.ts'
import { PeopleDirectory } from '../../../../src/surfaces/http/auth/directory.ts'
import { LoginCodes, LoginProofs } from '../../../../src/surfaces/http/auth/login-proof.ts'
import { OpenStreams } from '../../../../src/surfaces/http/auth/open-streams.ts'
import { type Security, TokenBuckets } from '../../../../src/surfaces/http/auth/security.ts'
import { httpServer } from '../../../../src/surfaces/http/http-server.ts'
import { createLivePart } from '../../../../src/surfaces/http/live/live.ts'
import type { Logger, ServedProject } from '../../../../src/surfaces/http/serving.ts'
import type { McpOverHttpOptions } from '../../../../src/surfaces/mcp/http/endpoint-parts.ts'
import { createMcpOverHttp, type McpOverHttp } from '../../../../src/surfaces/mcp/http/mcp-over-http.ts'
import { type MachinePeople, machinePeople } from '../../../support/machine-people.ts'
import { openProject, type TestProject } from '../../../support/project.ts'
import { serverEnvironment } from '../../../support/stdio-project.ts'

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
  const served: ServedProject = {
    key: 'tree',
    name: 'tree',
    folder: project.folder,
    clients: () => [],
    setup: async () => ({ set_up: [], on_path: false }),
    contextOf: (actor: Actor): Context => {
      const permissions = directory.standingOf(actor, served)
      return { ...project.context, actor, team: people.team, ...(permissions && { permissions }) }
    },
  }
  const live = createLivePart({ version, log })
  const folder = join(project.folder, '..', 'server')
  let port = 0
  const now = () => Date.now()
  const people = await machinePeople(serverEnvironment(join(project.folder, '..')), () => project.context)
  const directory: PeopleDirectory = new PeopleDirectory({
    team: people.team,
    projects: () => [served],
    storeOf: () => project.context.store,
    port: () => port,
    ids: randomIds,
    log,
    now,
  })
  const security: Security = {
    hosts: () => ({ port, allowed: [] }),
    directory,
    oidc: null,
    trustProxy: false,
    codes: new LoginCodes(),
    proofs: new LoginProofs(),
    streams: new OpenStreams(directory),
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
      demo: null,
    },
    { security, patience },
    { live, mcp, assets: serveAssets(folder) },
  )
  server.prependListener('request', await namedTokens(people))
  await new Promise<void>((listening) => server.listen({ port: 0, host: '127.0.0.1', backlog }, listening))
  port = (server.address() as AddressInfo).port
  onTestFinished(async () => {
    await closeGracefully(server, async () => void (await Promise.all([live.close(), mcp.shutdown()])))
    await directory.close()
    await people.team.store.close()
  })
  return { project, url: `http://127.0.0.1:${port}/mcp`, mcp }
}

// As many as a test likes, on a machine as busy as it may be.
const patience = { headers: 120_000, request: 120_000, look: 30_000 }
// A connection for which there is no room would be tried again after a second, and then after longer and longer.
const backlog = 2_048
const plenty = { burst: 100_000, perSecond: 100_000 }

/** Tests name their tokens, and other people's clients send none: the real one is put in place. */
async function namedTokens({ own, addToken }: MachinePeople): Promise<(request: IncomingMessage) => void> {
  const secrets = new Map([['Bearer agent', own.agent]])
  for (const name of ['ada', 'grace']) secrets.set(`Bearer ${name}`, await addToken({ name }))
  return ({ headers }) => {
    headers.authorization = `Bearer ${secrets.get(headers.authorization ?? 'Bearer agent')}`
  }
}
