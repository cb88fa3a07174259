import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { callersFromCommands } from '../../gate/commands/command-connections.ts'
import type { Actor } from '../../kernel/actor.ts'
import { detailsOf, errorCode, Failure } from '../../kernel/failure.ts'
import { catalog } from '../../kernel/operations/catalog.ts'
import type { Team } from '../../people/ports/team.ts'
import { randomIds } from '../../store/random-ids.ts'
import { serveAssets } from '../../surfaces/http/assets.ts'
import { PeopleDirectory } from '../../surfaces/http/auth/directory.ts'
import { LoginCodes, LoginProofs } from '../../surfaces/http/auth/login-proof.ts'
import { type OidcSettings, OidcSignIn } from '../../surfaces/http/auth/oidc.ts'
import { OpenStreams } from '../../surfaces/http/auth/open-streams.ts'
import { type Rates, type Security, teamRates, usualRates } from '../../surfaces/http/auth/security.ts'
import { type HttpTimeouts, httpServer, usualPatience } from '../../surfaces/http/http-server.ts'
import { createLivePart } from '../../surfaces/http/live/live.ts'
import type { DemoControl, HttpServingOptions, Logger, ServedProject } from '../../surfaces/http/serving.ts'
import { defaultUnreadLimits, type UnreadLimits } from '../../surfaces/http/slow-readers.ts'
import { createMcpOverHttp } from '../../surfaces/mcp/http/mcp-over-http.ts'
import type { Surface } from '../../surfaces/mcp/surface.ts'
import { version } from '../program.ts'
import { commandActor, runsInsideCommand } from '../settings/actor.ts'
import type { RunningServer } from './running-servers.ts'

const usualPort = 4747

const ownActor: Actor = { name: 'waymark serve', kind: 'agent', role: null, channel: 'http' }

/**
 * Listens on the requested port or fails. Without one it tries the last port, the default port, then any. If a server of
 * the same projects has the port, returns that server.
 */
export async function openOnFreePort(
  options: Omit<ServerOptions, 'port'>,
  port: number | null,
  servers?: ServerRegistry,
): Promise<OpenServer | RunningServer> {
  const last = servers?.lastPort() ?? usualPort
  for (const wanted of port === null ? new Set([last, usualPort]) : [port]) {
    try {
      return await openServer({ ...options, port: wanted })
    } catch (error) {
      if (!isTaken(error)) throw error
      if (port !== null) throw portTakenFailure(port, options.host, servers?.at(port) ?? null)
      const running = servers && (await awaitRunningServer(servers.running))
      if (running) return running
    }
  }
  return openServer({ ...options, port: 0 })
}

/** The lookups of a starting server. */
interface ServerRegistry {
  /** The server of the same projects. */
  readonly running: () => Promise<RunningServer | null>
  /** The port on which these projects were served last. */
  readonly lastPort: () => number | null
  readonly at: (port: number) => RunningServer | null
}

/** Of two servers started together, the other writes its file shortly after it has the port. */
async function awaitRunningServer(
  running: () => Promise<RunningServer | null>,
): Promise<RunningServer | null> {
  for (let round = 0; round < 5; round += 1) {
    const found = await running()
    if (found) return found
    await sleep(100)
  }
  return null
}

function portTakenFailure(port: number, host: string, server: RunningServer | null): Failure {
  if (server) {
    return new Failure(
      'UNAVAILABLE',
      `Port ${port} is used by the Waymark server of ${server.projects.join(', ')} (process ${server.pid}), at http://${server.address}.`,
      {
        reason: 'port_in_use',
        hint: 'Stop it, choose another port with --port, or omit --port to get a free one.',
      },
    )
  }
  return new Failure('UNAVAILABLE', `Port ${port} of ${host} is used by another program, or not allowed.`, {
    reason: 'port_unavailable',
    hint: 'Choose another with --port, or omit --port to get a free one.',
  })
}

export interface ServerOptions {
  /** May change while serving. */
  readonly projects: readonly ServedProject[]
  /** The reserved project of a database, for calls without another project. */
  readonly own?: ServedProject
  /** Finds projects that were added or renamed elsewhere. */
  readonly refresh?: () => Promise<unknown>
  readonly host: string
  /** 0 for any. */
  readonly port: number
  readonly allowedHosts: readonly string[]
  readonly instance: string
  readonly log: Logger
  /** The people with access: the user of this machine, or people who share a database. */
  readonly team: Team
  /** The OIDC provider for sign-in with a browser. */
  readonly oidc?: OidcSettings
  /** A proxy in front reports the client's address and whether it uses TLS. */
  readonly trustProxy?: boolean
  /** The tools that MCP lists; default: all. */
  readonly toolsets?: Surface['toolsets']
  /** The recorded day that is played here. */
  readonly demo?: DemoControl
  readonly assets?: string
  readonly rates?: Rates
  readonly patience?: HttpTimeouts
  readonly unread?: UnreadLimits
}

export interface OpenServer {
  readonly port: number
  readonly security: Security
  /** Refuses new requests, answers running ones, and closes every connection. */
  stop(): Promise<void>
}

/** Builds the server and listens. Fails with the system's error if the port is taken. */
export async function openServer(options: ServerOptions): Promise<OpenServer> {
  const { host, allowedHosts, instance, log, team } = options
  const program = resolve(process.argv[1] ?? 'waymark')
  let directory: PeopleDirectory | null = null
  // Checks the caller's current permissions on each call.
  const withAccess = new WeakMap<ServedProject, ServedProject>()
  const checkProject = (project: ServedProject): ServedProject => {
    const before = withAccess.get(project)
    if (before) return before
    const made: ServedProject = {
      ...project,
      contextOf: (actor) => {
        const permissions = directory?.standingOf(actor, made)
        return { ...project.contextOf(actor), team, ...(permissions && { permissions }) }
      },
    }
    withAccess.set(project, made)
    return made
  }
  const serving: HttpServingOptions = {
    get projects() {
      return options.projects.map(checkProject)
    },
    own: options.own ? checkProject(options.own) : null,
    refresh: async () => void (await options.refresh?.()),
    catalog,
    version,
    program,
    instance,
    log,
    demo: options.demo ?? null,
  }
  const live = createLivePart({ version, log })
  const mcp = createMcpOverHttp({
    catalog: async () => catalog,
    toolsets: options.toolsets ?? ['plan', 'track', 'gate'],
    readOnly: false,
    toolNames: 'portable',
    version,
    log: (line, error) => log.warn(line, error === undefined ? {} : { error: detailsOf(error) }),
  })
  let port = options.port
  const now = () => Date.now()
  const people = new PeopleDirectory({
    team,
    projects: () => serving.projects,
    storeOf: (project) => project.contextOf(ownActor).store,
    port: () => port,
    ids: randomIds,
    log,
    now,
  })
  directory = people
  const security: Security = {
    hosts: () => ({ port, allowed: allowedHosts }),
    directory: people,
    oidc: options.oidc ? new OidcSignIn(options.oidc) : null,
    trustProxy: options.trustProxy ?? false,
    codes: new LoginCodes(),
    proofs: new LoginProofs(),
    streams: new OpenStreams(people),
    rates: options.rates ?? (team.owner ? usualRates() : teamRates()),
    insideCommand: actorInsideCommand(),
    now,
  }
  const parts = { live, mcp, assets: serveAssets(options.assets ?? builtDashboard()) }
  const server = httpServer(
    serving,
    { security, patience: options.patience ?? usualPatience, unread: options.unread ?? defaultUnreadLimits },
    parts,
  )
  await listen(server, { port, host }).catch(async (error: unknown) => {
    await people.close()
    throw error
  })
  port = (server.address() as AddressInfo).port // it listens on TCP
  return {
    port,
    security,
    stop: async () => {
      await closeGracefully(server, async () => void (await Promise.all([live.close(), mcp.shutdown()])))
      await people.close()
    },
  }
}

/** All servers of this process share one worker thread. */
const isInside = callersFromCommands()

/** All callers of a server that runs inside a guard's command act as that command. */
function actorInsideCommand(): Security['insideCommand'] {
  const isSelf = runsInsideCommand(process.env)
  return async (connection, channel) =>
    isSelf || (await isInside(connection)) ? commandActor(channel) : null
}

/** The folder beside the bundle, or three folders above this source file. */
function builtDashboard(): string {
  const beside = join(import.meta.dirname, 'web')
  return existsSync(beside) ? beside : join(import.meta.dirname, '..', '..', '..', 'dist', 'web')
}

/** Resolves once the server listens; fails with the system's error, such as EADDRINUSE. */
function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ port, host, exclusive: true }, () => {
    server.off('error', reject)
    resolve()
  })
  return promise
}

/** Whether a port is taken or reserved. */
function isTaken(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'EADDRINUSE' || code === 'EACCES'
}

/** The time for running requests when the server ends, in milliseconds. */
const patience = 5_000
const pollEveryMs = 50

/** Stops listening, ends long-lived connections, and waits for running requests. */
export async function closeGracefully(server: Server, endStreams: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  // A keep-alive connection is closed after its current answer.
  const timer = setInterval(() => server.closeIdleConnections(), pollEveryMs)
  const deadline = setTimeout(() => server.closeAllConnections(), patience)
  try {
    await endStreams()
    await closed
  } finally {
    clearInterval(timer)
    clearTimeout(deadline)
  }
}
