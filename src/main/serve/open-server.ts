import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { isCalledFromCommand } from '../../commands/inside-command.ts'
import { catalog } from '../../operations/catalog.ts'
import { serveAssets } from '../../surfaces/http/assets/serve-assets.ts'
import { LoginCodes } from '../../surfaces/http/guard/login-codes.ts'
import { LoginProofs } from '../../surfaces/http/guard/login-proof.ts'
import { OpenStreams } from '../../surfaces/http/guard/open-streams.ts'
import { type Rates, type Security, usualRates } from '../../surfaces/http/guard/security.ts'
import { Sessions } from '../../surfaces/http/guard/sessions.ts'
import { TokenFile } from '../../surfaces/http/guard/tokens/token-file.ts'
import { httpServer, type Patience, usualPatience } from '../../surfaces/http/http-server.ts'
import { openLive } from '../../surfaces/http/live/live.ts'
import type { Log, ServedProject, Serving } from '../../surfaces/http/serving.ts'
import { type UnreadLimits, usualUnread } from '../../surfaces/http/unread-answers.ts'
import { createMcpOverHttp } from '../../surfaces/mcp/http/mcp-over-http.ts'
import type { Surface } from '../../surfaces/mcp/surface.ts'
import { version } from '../program.ts'
import { commandActor, runsInsideCommand, userIdentity } from '../settings/actor.ts'
import { userName } from '../settings/user-name.ts'
import { drained } from './drained.ts'
import { listen } from './listen.ts'

export interface ServerOptions {
  readonly projects: readonly [ServedProject, ...ServedProject[]]
  /** Where tokens and sessions are kept. */
  readonly folder: string
  readonly host: string
  /** 0 for any. */
  readonly port: number
  readonly allowedHosts: readonly string[]
  readonly instance: string
  readonly log: Log
  /** Which tools MCP lists; all when left out. */
  readonly toolsets?: Surface['toolsets']
  readonly assets?: string
  readonly rates?: Rates
  readonly patience?: Patience
  readonly unread?: UnreadLimits
}

export interface OpenServer {
  readonly port: number
  readonly security: Security
  /** Stops taking requests, answers those that run, and closes every connection. */
  stop(): Promise<void>
}

/** Puts the server together and listens. Fails with the error of the system where the port is taken. */
export async function openServer(options: ServerOptions): Promise<OpenServer> {
  const { projects, folder, host, allowedHosts, instance, log } = options
  const program = resolve(process.argv[1] ?? 'waymark')
  const serving: Serving = { projects, catalog, version, program, instance, log }
  const live = openLive({ version, log })
  const mcp = createMcpOverHttp({
    catalog: async () => catalog,
    toolsets: options.toolsets ?? ['plan', 'track', 'gate'],
    readOnly: false,
    toolNames: 'portable',
    version,
    log: (line) => log.warn(line),
  })
  let port = options.port
  const tokens = new TokenFile(folder)
  const sessions = new Sessions(join(folder, 'sessions.json'))
  const now = () => Date.now()
  const security: Security = {
    hosts: () => ({ port, allowed: allowedHosts }),
    tokens,
    sessions,
    codes: new LoginCodes(),
    proofs: new LoginProofs(),
    streams: new OpenStreams({ tokens, sessions, now }),
    rates: options.rates ?? usualRates(),
    insideCommand: callersFromCommands(),
    user: userIdentity(userName()),
    now,
  }
  const parts = { live, mcp, assets: serveAssets(options.assets ?? builtDashboard()) }
  const server = httpServer(
    serving,
    { security, patience: options.patience ?? usualPatience, unread: options.unread ?? usualUnread },
    parts,
  )
  await listen(server, { port, host })
  port = (server.address() as AddressInfo).port // it listens on TCP
  return {
    port,
    security,
    stop: () => drained(server, async () => void (await Promise.all([live.close(), mcp.shutdown()]))),
  }
}

/** Looks once at each connection: who holds it stays who it is. A server inside a command serves nobody else. */
function callersFromCommands(): Security['insideCommand'] {
  const known = new WeakMap<object, boolean>()
  const isSelf = runsInsideCommand(process.env)
  return (connection, channel) => {
    const isInside = isSelf || (known.get(connection) ?? isCalledFromCommand(connection))
    known.set(connection, isInside)
    return isInside ? commandActor(channel) : null
  }
}

/** The bundle lies beside it, this file three folders below the top of the package. */
function builtDashboard(): string {
  const beside = join(import.meta.dirname, 'web')
  return existsSync(beside) ? beside : join(import.meta.dirname, '..', '..', '..', 'dist', 'web')
}
