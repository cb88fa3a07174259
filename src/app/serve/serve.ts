import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, messageOf } from '../../kernel/failure.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { isOwnToken, tokenErrorOf } from '../../people/domain/identity.ts'
import { keepOwnTokens } from '../../people/operations/owner.ts'
import type { Team } from '../../people/ports/team.ts'
import { baseOf, projectServer } from '../../remote/machine/known-servers.ts'
import { randomIds } from '../../store/random-ids.ts'
import { print } from '../../surfaces/cli/terminal.ts'
import type { OidcSettings } from '../../surfaces/http/auth/oidc.ts'
import { newSecret } from '../../surfaces/http/auth/secret.ts'
import type { Logger } from '../../surfaces/http/serving.ts'
import { startBackgroundJobs } from '../background-jobs.ts'
import { closeContext, databaseNamed } from '../open-context.ts'
import { endSignal, exitAfterGrace, processStart, thisProcess } from '../process.ts'
import { remoteRootOf } from '../remote/remote-project-location.ts'
import { commandLineActor } from '../settings/actor.ts'
import { type Environment, userName } from '../settings/environment.ts'
import { readServeFlags, type ServeFlags } from '../settings/flags.ts'
import { openMachinePeople } from '../settings/machine-people.ts'
import { oidcSettings } from '../settings/oidc.ts'
import { namedDatabase, serverFolder } from '../settings/project-location.ts'
import { cardLink } from './card-link.ts'
import { openLog } from './log.ts'
import { type DatabaseProjects, type OpenProject, openDatabaseProjects, openProjects } from './projects.ts'
import { type RunningServer, RunningServers } from './running-servers.ts'
import { type OpenServer, openOnFreePort, openServer, type ServerOptions } from './server.ts'
import { welcome } from './welcome.ts'

/** `waymark serve`: serves until a signal; if a server of the same projects runs, prints its address. */
export function serve(words: readonly string[]): Promise<void> {
  const flags = readServeFlags(words)
  const log = openLog(flags.logLevel)
  takeConsole(log)
  return serveProjects(flags, log)
}

/** The HTTP library logs aborted answers to the console. */
function takeConsole(log: Logger): void {
  console.info = (message: unknown) => log.debug(String(message))
  console.error = (error: unknown) => log.error('An answer could not be sent.', { error: String(error) })
}

async function serveProjects(flags: ServeFlags, log: Logger): Promise<void> {
  const environment = process.env
  const folder = serverFolder(environment)
  const projects = await openServedProjects(flags, environment)
  if (flags.stop) return stopServer(projects, new RunningServers(folder))
  const { context } = projects.own ?? firstOf(projects)
  const oidc = oidcSettings(flags, environment)
  const findTeam = () => sharedTeam(context, { environment, oidc })
  const team = (await findTeam()) ?? openMachinePeople(environment, process.cwd())
  if (team.owner) await refuseRemoteWithoutTokens(flags, team)
  const folders = servedFolders(projects, environment)
  const servers = new RunningServers(folder)
  if (team.owner) await keepOwnTokens(team, team.owner, { at: Date.now(), ids: randomIds })
  // An agent that starts the server gets no sign-in link of a person.
  const isAgent = commandLineActor(environment, userName()).kind === 'agent'
  const visit = {
    signsIn: team.owner !== null && !isAgent,
    open: flags.open,
    folder,
    byPersons: team.owner === null,
    takesPeople: team.owner !== null && namedDatabase(environment) !== undefined,
  }
  const running = await servers.serving(folders)
  if (running && (flags.port === null || flags.port === running.port)) return welcome(running, null, visit)
  const instance = newSecret()
  const options = optionsOf(flags, projects, {
    instance,
    log,
    team,
    ...(oidc && { oidc }),
  })
  const server = await openOnFreePort(options, flags.port, {
    running: () => servers.serving(folders),
    lastPort: () => servers.lastPort(folders),
    at: (port) => servers.at(port),
  })
  if ('address' in server) return welcome(server, null, visit)
  const address = `${shownHost(flags.host)}:${server.port}`
  const announced = { ...thisProcess(), port: server.port, address, instance, projects: folders }
  const served = new ServedTeam(server, { ...options, team, port: server.port })
  const admitPeople = async () => {
    if (!visit.takesPeople || !(await served.switchTo(findTeam))) return
    log.info('The database has people now. Only they can sign in.')
    await welcome(announced, options.projects, { ...visit, ...ofPeople })
  }
  try {
    servers.announce(announced)
    await welcome(announced, options.projects, visit)
    log.info('Waymark is serving.', { address, projects: options.projects.map(({ key }) => key) })
    await notifyUntilStopped(projects, { log, base: flags.publicUrl ?? `http://${address}`, admitPeople })
  } finally {
    servers.withdraw(announced)
    await served.stop()
    await closeProjects(projects)
    await team.store.close()
    log.info('Waymark stopped.')
  }
}

const ofPeople = { signsIn: false, open: false, byPersons: true, takesPeople: false }

/** A server whose users change once: from the user of this machine to the people of its database. */
class ServedTeam {
  #server: OpenServer | null
  #options: ServerOptions
  #switching: Promise<boolean> | null = null

  constructor(server: OpenServer, options: ServerOptions) {
    this.#server = server
    this.#options = options
  }

  /** Whether it now serves people. */
  switchTo(people: () => Promise<Team | null>): Promise<boolean> {
    this.#switching ??= this.#switch(people).finally(() => {
      this.#switching = null
    })
    return this.#switching
  }

  async stop(): Promise<void> {
    await this.#switching?.catch(() => undefined)
    await this.#server?.stop()
  }

  async #switch(people: () => Promise<Team | null>): Promise<boolean> {
    if (this.#options.team.owner === null) return false
    const team = await people()
    if (team === null) return false
    // Without it nobody is let in as the user of this machine any more, even if the port is lost meanwhile.
    await this.#server?.stop()
    this.#server = null
    this.#server = await openServer({ ...this.#options, team })
    this.#options = { ...this.#options, team }
    return true
  }
}

/** Identifies a server beside its port. */
function servedFolders({ open, own }: DatabaseProjects, environment: Environment): readonly string[] {
  return [
    ...open.map((project) => project.context.folder),
    // Servers without folders differ by the database that they serve.
    ...(own ? [`database ${databaseNamed(environment, process.cwd())}`] : []),
  ]
}

/** `waymark serve --stop`. */
async function stopServer(projects: DatabaseProjects, servers: RunningServers): Promise<void> {
  const folders = servedFolders(projects, process.env)
  await closeProjects(projects)
  const running = await servers.serving(folders)
  if (!running) return print(`No server runs for ${folders.join(', ')}.\n`)
  process.kill(running.pid, 'SIGTERM')
  const deadline = performance.now() + stopPatience
  while (processStart(running.pid) === running.started) {
    if (performance.now() > deadline) {
      throw new Failure('UNAVAILABLE', `The server of process ${running.pid} did not end in ten seconds.`, {
        reason: 'server_not_stopped',
        hint: `End it by hand: kill ${running.pid}`,
      })
    }
    await sleep(50)
  }
  print(`Stopped the server at http://${running.address}.\n`)
}

const stopPatience = 10_000

/** Finds the server that runs for a project of this machine. */
export async function serverFinder(
  project: string | undefined,
): Promise<() => Promise<RunningServer | null>> {
  const environment = process.env
  const flags = readServeFlags(project === undefined ? [] : ['--project', project])
  const projects = await openServedProjects(flags, environment)
  const folders = servedFolders(projects, environment)
  await closeProjects(projects)
  const servers = new RunningServers(serverFolder(environment))
  return () => servers.serving(folders)
}

/** Milliseconds between two checks for projects that others made. */
const betweenLooks = 2_000

async function openServedProjects(flags: ServeFlags, environment: Environment): Promise<DatabaseProjects> {
  const { reachesPrivate, projects: named } = flags
  const request = { named, environment, workingFolder: process.cwd(), reachesPrivate }
  if (namedDatabase(environment) !== undefined) return openDatabaseProjects(request)
  if (!flags.stop)
    for (const project of named.length === 0 ? [undefined] : named) refuseConnected({ ...request, project })
  const [first, ...others] = openProjects(request)
  return {
    open: [first, ...others],
    served: [first.served, ...others.map(({ served }) => served)],
    own: null,
    refresh: async () => [],
  }
}

/** The record of a connected folder is at its server: one of its own would be empty. */
function refuseConnected(place: Parameters<typeof remoteRootOf>[0]): void {
  const root = remoteRootOf(place)
  const server = projectServer(root)
  if (server === null) return
  throw new Failure('REFUSED', `${root} is connected to ${baseOf(server)}, which keeps its record.`, {
    reason: 'folder_connected',
    hint: "Open the team's dashboard: waymark open. To serve a record of its own, first: waymark disconnect",
  })
}

/** Runs the background work until a signal ends the process. */
async function notifyUntilStopped(
  { open, refresh }: DatabaseProjects,
  {
    log,
    base,
    admitPeople,
  }: { readonly log: Logger; readonly base: string; readonly admitPeople: () => Promise<void> },
): Promise<void> {
  const keptUp = ({ context }: OpenProject) =>
    startBackgroundJobs(context, (line) => log.warn(line), { isServer: true })
  const stopping = open.map(keptUp)
  const ending = new AbortController()
  const telling = open.map((project) => sendNotifications(project, { log, base, signal: ending.signal }))
  const timer = setInterval(() => {
    refresh()
      .then((added) => {
        stopping.push(...added.map(keptUp))
        for (const project of added) {
          telling.push(sendNotifications(project, { log, base, signal: ending.signal }))
        }
        return admitPeople()
      })
      .catch((error: unknown) => log.warn(`Looking for new projects and people: ${messageOf(error)}`))
  }, betweenLooks).unref()
  const signal = await endSignal()
  log.info('Waymark stops as soon as running requests are answered.', { signal })
  clearInterval(timer)
  exitAfterGrace()
  await Promise.all(stopping.map((stop) => stop()))
  ending.abort()
  await Promise.all(telling)
}

interface SenderOptions {
  readonly log: Logger
  /** The address of the dashboard. */
  readonly base: string
  readonly signal: AbortSignal
}

/** Sends the notifications of a project. */
async function sendNotifications(project: OpenProject, { log, base, signal }: SenderOptions): Promise<void> {
  const { runNotificationSender: keepTelling } = await import('../../notifications/operations/send-loop.ts')
  const sender = {
    ...project.context,
    // It may be renamed while it is served.
    project: () => project.served.name,
    link: cardLink(() => `${base}/p/${project.served.key}`),
  }
  const logFailure = (error: unknown) => log.warn(`Telling people: ${messageOf(error)}`)
  await keepTelling({ sender, signal, onFailure: logFailure })
}

function firstOf({ open }: DatabaseProjects): OpenProject {
  const [first] = open
  if (!first) throw new Error('there is a project, or a database for all of them')
  return first
}

async function closeProjects({ open, own }: Pick<DatabaseProjects, 'open' | 'own'>): Promise<void> {
  await Promise.all([...open, ...(own ? [own] : [])].map(({ context }) => closeContext(context)))
}

/** The people of a named database on a server, or of a file that has people; null for the user of this machine. */
async function sharedTeam(
  { team }: Context,
  { environment, oidc }: { readonly environment: Environment; readonly oidc: OidcSettings | null },
): Promise<Team | null> {
  const named = team?.owner === null ? team : null
  if (!named && oidc) {
    throw new Failure('INVALID_INPUT', `Sign-in at ${oidc.issuer} needs a shared database.`, {
      reason: 'named_database_needed',
      hint: 'Set WAYMARK_DATABASE to a file or to a postgres:// address.',
    })
  }
  const people = await named?.store.view(({ identities }) => identities.people())
  const isShared = oidc !== null || /^postgres(ql)?:/.test(namedDatabase(environment) ?? '')
  return named && (isShared || people?.length) ? named : null
}

async function refuseRemoteWithoutTokens({ allowRemote }: ServeFlags, { store }: Team): Promise<void> {
  const tokens = allowRemote ? await store.view(({ identities }) => identities.tokens({})) : []
  const isMade = tokens.some(({ token }) => !isOwnToken(token) && tokenErrorOf(token, Date.now()) === null)
  if (!allowRemote || isMade) return
  throw new Failure('REFUSED', '--allow-remote needs a token for other machines, and none was created.', {
    reason: 'token_missing',
    hint: 'Create one first: waymark token create <name>',
  })
}

function optionsOf(
  flags: ServeFlags,
  { served, own, refresh }: DatabaseProjects,
  run: Pick<ServerOptions, 'instance' | 'log' | 'team' | 'oidc'>,
): Omit<ServerOptions, 'port'> {
  const { host, allowHosts } = flags
  // Every server accepts these with its port; a wildcard is no host name.
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

/** The host that reaches an address from this machine. */
function shownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
