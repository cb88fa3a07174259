import { randomUUID } from 'node:crypto'
import { Failure, messageOf } from '../../kernel/failure.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { Team } from '../../people/ports/team.ts'
import type { OidcSettings } from '../../surfaces/http/guard/oidc.ts'
import { TokenFile } from '../../surfaces/http/guard/tokens.ts'
import type { Logger } from '../../surfaces/http/serving.ts'
import { closeContext, databaseNamed } from '../open-context.ts'
import { endSignal, exitAfterGrace, thisProcess } from '../process.ts'
import { commandLineActor } from '../settings/actor.ts'
import { type Environment, userName } from '../settings/environment.ts'
import { readServeFlags, type ServeFlags } from '../settings/flags.ts'
import { oidcSettings } from '../settings/oidc.ts'
import { personName } from '../settings/person-name.ts'
import { namedDatabase, serverFolder } from '../settings/places.ts'
import { startUpkeep } from '../upkeep.ts'
import { cardLink } from './card-link.ts'
import { openLog } from './log.ts'
import { type DatabaseProjects, type OpenProject, openDatabaseProjects, openProjects } from './projects.ts'
import { RunningServers } from './running-servers.ts'
import { type OpenServer, openOnFreePort, type ServerOptions } from './server.ts'
import { welcome } from './welcome.ts'

/** `waymark serve`: serves until it is told to end; where a server of the same projects runs already, says where. */
export function serve(words: readonly string[]): Promise<void> {
  const flags = readServeFlags(words)
  const log = openLog(flags.logLevel)
  takeConsole(log)
  return serveProjects(flags, log)
}

/** The library below the server tells the console what became of answers whose client left. */
function takeConsole(log: Logger): void {
  console.info = (message: unknown) => log.debug(String(message))
  console.error = (error: unknown) => log.error('An answer could not be sent.', { error: String(error) })
}

async function serveProjects(flags: ServeFlags, log: Logger): Promise<void> {
  const environment = process.env
  const folder = serverFolder(environment)
  const tokens = new TokenFile(folder)
  const projects = await openServedProjects(flags, environment)
  const { context } = projects.own ?? firstOf(projects)
  const oidc = oidcSettings(flags, environment)
  const team = await activeTeam(context, { environment, oidc })
  if (!team) refuseRemoteWithoutTokens(flags, tokens)
  const database = databaseNamed(environment, process.cwd())
  const folders = [
    ...projects.open.map((project) => project.context.folder),
    // Two servers of no folder at all are told apart by what they serve.
    ...(projects.own ? [`database ${database}`] : []),
  ]
  const servers = new RunningServers(folder)
  const own = tokens.ownToken('agent', 'agent')
  const person = tokens.ownToken('person', personName(environment, process.cwd()))
  // An agent that starts the server for its user gets no address that acts as a person.
  const isAgent = commandLineActor(environment, userName()).kind === 'agent'
  const visit = {
    person: isAgent || team ? null : person,
    open: flags.open,
    folder,
    byPersons: team !== null,
  }
  const running = await servers.serving(folders, own)
  if (running && (flags.port === null || flags.port === running.port)) return welcome(running, null, visit)
  const instance = randomUUID()
  const options = optionsOf(flags, projects, {
    folder,
    instance,
    log,
    ...(team && { team }),
    ...(oidc && { oidc }),
  })
  const server = await openOnFreePort(options, flags.port, {
    running: () => servers.serving(folders, own),
    lastPort: () => servers.lastPort(folders),
    at: (port) => servers.at(port),
  })
  if ('address' in server) return welcome(server, null, visit)
  const address = `${shownHost(flags.host)}:${server.port}`
  const announced = { ...thisProcess(), port: server.port, address, instance, projects: folders }
  try {
    servers.announce(announced)
    await welcome(announced, options.projects, visit)
    log.info('Waymark is serving.', { address, projects: options.projects.map(({ key }) => key) })
    await notifyUntilStopped(projects, { log, base: flags.publicUrl ?? `http://${address}` })
  } finally {
    servers.withdraw(announced)
    await end(server, projects)
    log.info('Waymark stopped.')
  }
}

/** Milliseconds between two looks for projects that others made. */
const betweenLooks = 2_000

async function openServedProjects(flags: ServeFlags, environment: Environment): Promise<DatabaseProjects> {
  const { reachesPrivate, projects: named } = flags
  const request = { named, environment, workingFolder: process.cwd(), reachesPrivate }
  if (namedDatabase(environment) !== undefined) return openDatabaseProjects(request)
  const [first, ...others] = openProjects(request)
  return {
    open: [first, ...others],
    served: [first.served, ...others.map(({ served }) => served)],
    own: null,
    refresh: async () => [],
  }
}

/** What goes on beside the requests, until the process is told to end. */
async function notifyUntilStopped(
  { open, refresh }: DatabaseProjects,
  { log, base }: { readonly log: Logger; readonly base: string },
): Promise<void> {
  const keptUp = ({ context }: OpenProject) => startUpkeep(context, (line) => log.warn(line))
  const stopping = open.map(keptUp)
  const ending = new AbortController()
  const telling = open.map((project) => sendNotifications(project, { log, base, signal: ending.signal }))
  const looking = setInterval(() => {
    refresh()
      .then((added) => {
        stopping.push(...added.map(keptUp))
        for (const project of added) {
          telling.push(sendNotifications(project, { log, base, signal: ending.signal }))
        }
      })
      .catch((error: unknown) => log.warn(`Looking for new projects: ${messageOf(error)}`))
  }, betweenLooks).unref()
  const signal = await endSignal()
  log.info('Waymark stops as soon as running requests are answered.', { signal })
  clearInterval(looking)
  exitAfterGrace()
  await Promise.all(stopping.map((stop) => stop()))
  ending.abort()
  await Promise.all(telling)
}

interface SenderOptions {
  readonly log: Logger
  /** Where the dashboard is reached. */
  readonly base: string
  readonly signal: AbortSignal
}

/** Tells people what waits for them in a project, by the ways that they asked for. */
async function sendNotifications(project: OpenProject, { log, base, signal }: SenderOptions): Promise<void> {
  const { runNotificationSender: keepTelling } = await import('../../notifications/operations/sender.ts')
  const sender = {
    ...project.context,
    // It may get another name while it is served.
    project: () => project.served.name,
    link: cardLink(() => `${base}/p/${project.served.key}`),
  }
  const failed = (error: unknown) => log.warn(`Telling people: ${messageOf(error)}`)
  await keepTelling({ sender, signal, failed })
}

function firstOf({ open }: DatabaseProjects): OpenProject {
  const [first] = open
  if (!first) throw new Error('there is a project, or a database for all of them')
  return first
}

async function end(server: OpenServer, { open, own }: DatabaseProjects): Promise<void> {
  await server.stop()
  await Promise.all([...open, ...(own ? [own] : [])].map(({ context }) => closeContext(context)))
}

/**
 * The persons of a database that is named are who is let in: always where it is a server's, and in a file once there is
 * one. Until then the file is somebody's own, and their own tokens count.
 */
async function activeTeam(
  { team }: Context,
  { environment, oidc }: { readonly environment: Environment; readonly oidc: OidcSettings | null },
): Promise<Team | null> {
  if (!team && oidc) {
    throw new Failure(
      'INVALID_INPUT',
      `Persons who sign in at ${oidc.issuer} are kept in a database that is named.`,
      {
        reason: 'named_database_needed',
        hint: 'Set WAYMARK_DATABASE to a file or to a postgres:// address.',
      },
    )
  }
  if (!team) return null
  if (oidc || /^postgres(ql)?:/.test(namedDatabase(environment) ?? '')) return team
  const persons = await team.store.view(({ identities }) => identities.persons())
  return persons.length > 0 ? team : null
}

function refuseRemoteWithoutTokens({ allowRemote }: ServeFlags, tokens: TokenFile): void {
  if (!allowRemote || tokens.entries().some(({ explicit }) => explicit)) return
  throw new Failure(
    'REFUSED',
    '--allow-remote lets other machines in, but no token was made for them: the only tokens are those that the server makes for its own user.',
    { reason: 'token_missing', hint: 'Make one first: waymark token create <name>' },
  )
}

function optionsOf(
  flags: ServeFlags,
  { served, own, refresh }: DatabaseProjects,
  run: Pick<ServerOptions, 'folder' | 'instance' | 'log' | 'team' | 'oidc'>,
): Omit<ServerOptions, 'port'> {
  const { host, allowHosts } = flags
  // These are known to every server, with its port; a wildcard is no name.
  const isName = !['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::'].includes(host)
  return {
    ...run,
    projects: served,
    ...(own && { own: own.served }),
    refresh,
    host,
    toolsets: flags.toolsets,
    trustProxy: flags.trustProxy,
    allowedHosts: isName ? [...allowHosts, shownHost(host)] : allowHosts,
  }
}

/** What an address is reached by from this machine. */
function shownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
