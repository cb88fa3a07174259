import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import { readInvitation } from '../../people/domain/identity.ts'
import { whoami } from '../../people/operations/whoami.ts'
import {
  baseOf,
  type ConnectedServer,
  forgetProjectServer,
  keepProjectServer,
  parseAddress,
  projectServer,
  ServerCredentials,
} from '../../remote/machine/known-servers.ts'
import { ServerClient, ServerRefusal } from '../../remote/machine/server-client.ts'
import { print, printError, printJson } from '../../surfaces/cli/terminal.ts'
import { commandLineActor } from '../settings/actor.ts'
import { firstSetVariable, userName } from '../settings/environment.ts'
import { isJsonRequested, readWords } from '../settings/flags.ts'
import { refuseForeign } from '../settings/regular-paths.ts'
import { type RemoteProjectLocation, remoteRootOf, remoteStateFolder } from './remote-project-location.ts'

const ServerSession = z.object({
  /** Empty if the server has none. */
  project: z.string(),
  projects: z.array(z.object({ key: z.string(), name: z.string() })),
  actor: z.object({ name: z.string(), kind: z.enum(['agent', 'person']) }),
  version: z.string(),
  single_user: z.boolean().optional(),
  permissions: z.object({ admin: z.boolean(), expires_at: z.string() }).nullable().optional(),
})
type ServerSession = z.output<typeof ServerSession>

type ServerLocation = Omit<ConnectedServer, 'project'>

/** `waymark connect`: connects this project to a server, and stores the token on this machine. */
export async function connectToServer(words: readonly string[]): Promise<void> {
  const flags = readWords('connect', words)
  const { positionals, text, has, flagFailure } = flags
  const [address, odd] = positionals
  if (address === undefined) throw flagFailure('connect needs the address of a server.')
  if (odd !== undefined) throw flagFailure(`connect does not take ${odd}.`)
  if (has('trust-commands') && has('no-trust-commands')) {
    throw flagFailure('connect takes either --trust-commands or --no-trust-commands.')
  }
  const environment = process.env
  const { origin, project } = parseAddress(address)
  const servers = new ServerCredentials(remoteStateFolder(environment))
  const credential = servers.find(origin)
  const trustsCommands =
    has('trust-commands') || (credential?.trustsCommands === true && !has('no-trust-commands'))
  if (has('trust-commands')) refuseAgent('waymark connect <url> --trust-commands')
  const kept = has('new-token') ? undefined : credential?.token
  const given =
    environment['WAYMARK_TOKEN']?.trim() || (await readToken(origin, { isKept: kept !== undefined })) || kept
  if (given === undefined) throw noTokenFailure(origin)
  const token = readInvitation(given) ? await acceptInvitation(origin, given) : given
  // An invitation works once: its token is stored first, in case a later step fails.
  if (token !== given) servers.keep(origin, { token, trustsCommands })
  const named = text('project') ?? project
  const root = remoteRootOf({ environment, workingFolder: process.cwd() })
  refuseForeign(root)
  const before = savedServer(root)
  // A new token for the same server keeps the project.
  const meant = named ?? (before?.origin === origin ? before.project : null)
  const at = { origin, token, trustsCommands }
  if (has('new')) refuseAgent('waymark connect <url> --project <name> --new')
  if (has('new') && named === null) throw flagFailure('connect --new needs --project <name>.')
  const session =
    meant === null
      ? await onlyProject(at)
      : await projectNamed(at, meant, { isNew: has('new'), isAgain: named === null })
  servers.keep(origin, { token, trustsCommands })
  keepProjectServer(root, { origin, project: session.project }, has('hooks-closed'))
  if (trustsCommands !== (credential?.trustsCommands ?? false))
    await reportMachine({ root, server: { ...at, project: session.project } })
  const { name, kind } = session.actor
  const isKept = token === credential?.token
  if (isJsonRequested(flags)) {
    const place = { folder: root, server: origin, project: session.project }
    return printJson({ ...place, actor: { name, kind }, token: isKept ? 'kept' : 'new' })
  }
  print(
    `${root} is now connected to ${origin} as project ${session.project}; you are ${name} (${kind}) there.\n`,
  )
  if (isKept) {
    printError(
      `It uses the token that this machine kept for ${origin}. For another one: waymark connect ${origin} --new-token\n`,
    )
  }
  printError(
    trustsCommands
      ? 'Commands of tasks and gates run on this machine once a person approves them on the server.\n'
      : `Commands of tasks and gates run here only if a maintainer approves them in a terminal on this machine. To let approvals on the dashboard count: waymark connect ${origin} --trust-commands\n`,
  )
}

/** Tells the server at once what this machine trusts: each call does, and questions may be open. */
async function reportMachine(place: Pick<RemoteProjectLocation, 'root' | 'server'>): Promise<void> {
  const environment = process.env
  const { askServer } = await import('./command-line-remote.ts')
  const folder = remoteStateFolder(environment)
  const machineName = firstSetVariable(environment, ['WAYMARK_MACHINE'])
  const actor = commandLineActor(environment, userName())
  const opening = { actor, environment, workingFolder: process.cwd(), project: undefined }
  const { ask, close } = askServer({ ...place, folder, machineName }, opening)
  await ask(whoami, {}, {}).catch(() => undefined) // the next call reports it
  await close()
}

const Accepted = z.object({ token: z.string(), name: z.string(), expires_at: z.string() })

/** Exchanges an invitation for a token. */
async function acceptInvitation(origin: string, invitation: string): Promise<string> {
  const client = new ServerClient({ origin, project: null, token: '', trustsCommands: false })
  try {
    const read = Accepted.safeParse(await client.post('/api/invitation', { invitation }))
    if (!read.success) throw notWaymarkFailure(origin)
    const { token, name, expires_at } = read.data
    printError(
      `Welcome, ${name}. Your token is kept on this machine until ${expires_at.slice(0, 10)}. ` +
        'For the dashboard, create another: waymark token create dashboard --kind person\n',
    )
    return token
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 401) throw error
    throw new Failure('FORBIDDEN', `${origin} rejected this invitation: ${error.message}`, {
      reason: 'invitation_invalid',
      hint: 'Ask the person who invited you for a new one: waymark invitation create <your e-mail address>',
    })
  } finally {
    client.close()
  }
}

/** The default project: the only one that the user may see. */
async function onlyProject(at: ServerLocation): Promise<ServerSession> {
  const session = await sessionAt({ ...at, project: null })
  const { projects, permissions } = session
  const [only, other] = projects
  if (only && !other) return session.project === only.key ? session : { ...session, project: only.key }
  if (only) {
    throw new Failure('INVALID_INPUT', `${at.origin} has several projects: ${namesOf(projects)}.`, {
      reason: 'project_ambiguous',
      hint: `Choose one: ${shellCommand`waymark connect ${at.origin} --project ${only.key}`}`,
    })
  }
  throw new Failure('NOT_FOUND', `${at.origin} has no project yet.`, {
    reason: 'no_project',
    hint: permissions?.admin
      ? `Create one: waymark connect ${at.origin} --project <name> --new`
      : 'Ask an admin of the server to create one and to add you as a member.',
  })
}

/** The project of a name, created on request. */
async function projectNamed(
  at: ServerLocation,
  project: string,
  { isNew, isAgain }: { readonly isNew: boolean; readonly isAgain: boolean },
): Promise<ServerSession> {
  const found = await sessionIfThere({ ...at, project })
  if (found) return found
  const seen = await sessionIfThere({ ...at, project: null })
  if (!isNew) throw noSuchProject(at, project, { seen, isAgain })
  await callServer({ ...at, project: null }, (client) => client.post('/api/project_add', { name: project }))
  printError(`Created project ${project} at ${at.origin}.\n`)
  return sessionAt({ ...at, project })
}

function noSuchProject(
  { origin }: ServerLocation,
  project: string,
  { seen, isAgain }: { readonly seen: ServerSession | null; readonly isAgain: boolean },
): Failure {
  const others = seen?.projects ?? []
  const has = others.length === 0 ? '' : ` You can see ${namesOf(others)}.`
  const was = isAgain ? ', where this folder was connected' : ''
  return new Failure('NOT_FOUND', `You can see no project "${project}" at ${origin}${was}.${has}`, {
    reason: 'project_not_found',
    hint: hintFor(seen, shellCommand`waymark connect ${origin} --project ${project} --new`),
  })
}

function hintFor(seen: ServerSession | null, command: string): string {
  if (seen?.single_user)
    return 'That server serves its own folders. Its admin can start it with --project <folder>.'
  if (seen?.permissions?.admin) return `Make it: ${command}`
  return `Ask an admin of the server to create it (${command}), or to add you as a member (waymark member add).`
}

function namesOf(projects: ServerSession['projects']): string {
  return projects.map(({ key }) => key).join(', ')
}

type SavedConnection = Pick<ConnectedServer, 'origin' | 'project'>

/** The current server of the project; null if it cannot be read. */
function savedServer(root: string): SavedConnection | null {
  try {
    return projectServer(root)
  } catch {
    return null
  }
}

/** `waymark disconnect`: disconnects this project from its server. */
export async function disconnect(words: readonly string[]): Promise<void> {
  const flags = readWords('disconnect', words)
  const { positionals, flagFailure } = flags
  const [odd] = positionals
  if (odd !== undefined) throw flagFailure(`disconnect does not take ${odd}.`)
  refuseAgent('waymark disconnect')
  const environment = process.env
  const workingFolder = process.cwd()
  const root = remoteRootOf({ environment, workingFolder })
  refuseForeign(root)
  const saved = projectServer(root)
  if (saved === null) {
    throw new Failure('NOT_FOUND', `${root} is not connected to a server.`, {
      reason: 'server_not_connected',
      hint: 'waymark status shows where its record is.',
    })
  }
  forgetProjectServer(root)
  if (isJsonRequested(flags)) return printJson({ folder: root, server: saved.origin, project: saved.project })
  print(`${root} is disconnected from ${baseOf(saved)}. The record stays there.\n`)
  printError(
    `The token for ${saved.origin} stays on this machine, for other folders. To replace it: waymark connect ${saved.origin} --new-token\n`,
  )
}

/** Null if the user sees no such project. */
async function sessionIfThere(server: ConnectedServer): Promise<ServerSession | null> {
  try {
    return await sessionAt(server)
  } catch (error) {
    if (error instanceof ServerRefusal && error.status === 404) return null
    throw error
  }
}

/** Checks the token at the server, and finds the project. */
async function sessionAt(server: ConnectedServer): Promise<ServerSession> {
  return callServer(server, async (client) => {
    const read = ServerSession.safeParse(await client.get('/api/session'))
    if (read.success) return read.data
    throw notWaymarkFailure(server.origin)
  })
}

function notWaymarkFailure(origin: string): Failure {
  return new Failure('UNAVAILABLE', `${origin} answers, but is not a Waymark server.`, {
    reason: 'server_answer_invalid',
  })
}

async function callServer<Said>(
  server: ConnectedServer,
  ask: (client: ServerClient) => Promise<Said>,
): Promise<Said> {
  const client = new ServerClient(server)
  try {
    return await ask(client)
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 401) throw error
    throw new Failure('FORBIDDEN', `${server.origin} rejected this token: ${error.message}`, {
      reason: 'token_invalid',
      hint: `Ask an admin of the server for one (waymark token create <name>), then use it: waymark connect ${server.origin} --new-token, or WAYMARK_TOKEN=<token>.`,
    })
  } finally {
    client.close()
  }
}

/** Only people decide what runs on a machine. */
function refuseAgent(command: string): void {
  const { kind, name } = commandLineActor(process.env, userName())
  if (kind === 'person') return
  throw new Failure('FORBIDDEN', `Only people can connect a machine. ${name} is an agent.`, {
    reason: 'person_needed',
    hint: `Ask a person to run: ${command}`,
  })
}

/** How long a pipe that may never end is read, where a token is kept. */
const pipePatienceMs = 1_000

/**
 * Reads the token from a pipe or a hidden prompt: on the command line every process could read it. Asks nobody where one
 * is kept.
 */
async function readToken(
  origin: string,
  { isKept }: { readonly isKept: boolean },
): Promise<string | undefined> {
  const isTyped = isatty(0)
  if (isTyped && isKept) return undefined
  if (isTyped) printError(`Token for ${origin}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: silent,
    terminal: isTyped,
    ...(isKept && { signal: AbortSignal.timeout(pipePatienceMs) }),
  })
  try {
    for await (const line of lines) {
      const token = line.trim()
      if (isTyped) printError('\n')
      if (token !== '') return token
    }
  } finally {
    lines.close()
    process.stdin.destroy()
  }
  return undefined
}

function noTokenFailure(origin: string): Failure {
  return new Failure('INVALID_INPUT', `No token for ${origin} was given.`, {
    reason: 'token_missing',
    hint: 'Run it in a shell, pass the token on standard input, or set WAYMARK_TOKEN.',
  })
}
