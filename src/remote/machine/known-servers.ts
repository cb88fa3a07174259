import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { errorCode, Failure, messageOf } from '../../kernel/failure.ts'
import { pathFailure, removeContained, writeContained } from '../../kernel/files/contained-file.ts'
import { writePrivate } from '../../kernel/files/private-file.ts'
import { readRegularSync } from '../../kernel/files/regular-file.ts'
import { parseJson } from '../../kernel/json.ts'
import type { RemoteMachine } from '../../kernel/operations/operation.ts'
import { machineIdOf } from '../operations/protocol-limits.ts'

/** The servers of this machine's user with their tokens, and the server of each project. */

export interface ServerCredential {
  readonly token: string
  /** Guard commands that a person approved at the server also run here. */
  readonly trustsCommands: boolean
}

/** A project at a server, with the token for its calls. */
export interface ConnectedServer extends ServerCredential {
  /** Its token is the one that the user connected with, not one of a variable. */
  readonly isKept?: true
  /** Scheme, host and port. */
  readonly origin: string
  /** The project's key there; null for the server's first one. */
  readonly project: string | null
}

/** The base URL of the project's requests. */
export function baseOf({ origin, project }: Pick<ConnectedServer, 'origin' | 'project'>): string {
  return project === null ? origin : `${origin}/p/${encodeURIComponent(project)}`
}

const ipv4Loopback = /^127(?:\.\d{1,3}){3}$/

/** Parses the address that a person wrote. Fails if others could read a token sent to it. */
export function parseAddress(text: string): Pick<ConnectedServer, 'origin' | 'project'> {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new Failure('INVALID_INPUT', `"${text}" is not the address of a server.`, {
      reason: 'address_invalid',
      hint: 'Use a form such as https://waymark.example.com.',
    })
  }
  if (url.username !== '' || url.password !== '') {
    throw new Failure('INVALID_INPUT', 'The address of a server must not contain a name or a password.', {
      reason: 'address_has_credentials',
      hint: 'Enter the token when asked, or set WAYMARK_TOKEN.',
    })
  }
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const isLoopback = name === 'localhost' || name === '::1' || ipv4Loopback.test(name)
  if (url.protocol === 'http:' && !isLoopback) {
    throw new Failure('REFUSED', `${url.origin} is not encrypted: others could read the token.`, {
      reason: 'address_not_encrypted',
      hint: `Use https://${url.host}. Plain http:// is only for this machine.`,
    })
  }
  const [, project = null] = /^\/p\/([a-z0-9-]+)(?:\/|$)/.exec(url.pathname) ?? []
  if (project === null && /^\/p\/./.test(url.pathname)) {
    throw new Failure('INVALID_INPUT', `"${text}" is not the address of a project.`, {
      reason: 'address_invalid',
      hint: `Use ${url.origin}/p/<project>, or name the project with --project.`,
    })
  }
  return { origin: url.origin, project }
}

/** The servers of one user, in a file that only they can read. */
export class ServerCredentials {
  readonly #file: string

  constructor(folder: string) {
    this.#file = join(folder, 'servers.json')
  }

  find(origin: string): ServerCredential | null {
    return this.#read()[origin] ?? null
  }

  keep(origin: string, server: ServerCredential): void {
    const servers = { ...this.#read(), [origin]: server }
    writePrivate(this.#file, `${JSON.stringify({ version: 1, servers }, null, 2)}\n`)
  }

  #read(): Readonly<Record<string, ServerCredential>> {
    const text = textOf(this.#file)
    if (text === null) return {}
    const servers = serversIn(parseJson(text))
    if (servers) return servers
    throw new Failure('UNAVAILABLE', `The list of servers in ${this.#file} cannot be read.`, {
      reason: 'server_list_invalid',
      hint: 'Remove the file, and connect again: waymark connect <url>',
    })
  }
}

/** The file in `.waymark` with the server of the project. */
const serverFile = 'server'

/** The server in a project's file; null where there is none. */
export function projectServer(root: string): Pick<ConnectedServer, 'origin' | 'project'> | null {
  const [address = ''] = linesOf(root)
  return address === '' ? null : parseAddress(address)
}

/** Whether hooks deny when the server is unreachable: the line `hooks: closed` in the same file. */
export function hasClosedHooks(root: string): boolean {
  return linesOf(root).some((line) => /^hooks:\s*closed$/.test(line))
}

function linesOf(root: string): readonly string[] {
  const text = textOf(join(root, '.waymark', serverFile)) ?? ''
  return text.split('\n').map((line) => line.trim())
}

export function keepProjectServer(
  root: string,
  server: Pick<ConnectedServer, 'origin' | 'project'>,
  closed: boolean,
): void {
  const ignore = '.waymark/.gitignore'
  const own = [
    ...(existsSync(join(root, ignore)) ? [] : [[ignore, '*\n!/processes/\n!/processes/**\n'] as const]),
    [join('.waymark', serverFile), `${baseOf(server)}\n${closed ? 'hooks: closed\n' : ''}`] as const,
  ]
  for (const [path, text] of own) {
    const written = writeContained(root, path, text)
    if ('reason' in written) throw pathFailure(path, written)
  }
}

/** Removes the server of the project. The token stays: other projects may use it. */
export function forgetProjectServer(root: string): void {
  removeContained(root, join('.waymark', serverFile))
}

export interface ServerRequest {
  /** The value of `--server`. */
  readonly flag: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The project's root, where `.waymark` lies. */
  readonly root: string
  /** The folder with the user's servers. */
  readonly folder: string
}

function namedServer({ flag, environment }: Pick<ServerRequest, 'flag' | 'environment'>): string | undefined {
  return flag ?? (environment['WAYMARK_SERVER'] || undefined)
}

/** The address of a project's server, whether or not there is a token for it; null for a local project. */
export function serverAddress(
  request: Omit<ServerRequest, 'folder'>,
): Pick<ConnectedServer, 'origin' | 'project'> | null {
  const named = namedServer(request)
  return named === undefined ? projectServer(request.root) : parseAddress(named)
}

/**
 * The server of a project; null for a local project. A project's file can only choose a server that the user connected:
 * a token goes only to its own origin.
 */
export function connectedServer({ flag, environment, root, folder }: ServerRequest): ConnectedServer | null {
  const named = namedServer({ flag, environment })
  const token = environment['WAYMARK_TOKEN']?.trim() || undefined
  const address = serverAddress({ flag, environment, root })
  if (address === null) return null
  const credential = new ServerCredentials(folder).find(address.origin)
  if (token !== undefined && named !== undefined) {
    return { ...address, token, trustsCommands: credential?.trustsCommands ?? false }
  }
  if (credential) return { ...address, ...credential, isKept: true }
  const who = named === undefined ? `${join(root, '.waymark', serverFile)} names` : 'You name'
  throw new Failure('REFUSED', `${who} ${address.origin}, for which there is no token on this machine.`, {
    reason: 'server_not_connected',
    hint: `Connect to it first: waymark connect ${baseOf(address)}`,
  })
}

/** This machine's identity at one server. Its id is derived from the secret key. */
export interface OwnMachine extends RemoteMachine {
  readonly key: string
}

/**
 * The identity of this machine at a server. Each server has its own key, so that none can impersonate this machine.
 */
export function thisMachine(folder: string, origin: string, ownName?: string): OwnMachine {
  const place = join(folder, 'machine-keys', `${encodeURIComponent(origin)}.json`)
  const existing = machineIn(parseJson(textOf(place) ?? ''))
  const named = ownName?.trim().slice(0, 100)
  if (existing) return { ...existing, ...(named && { name: named }) }
  // Loaded late: it takes a hook ten milliseconds, and is needed once per server.
  const { randomBytes, hash } = process.getBuiltinModule('node:crypto')
  const key = randomBytes(32).toString('hex')
  const machine = {
    id: machineIdOf(hash('sha256', key)),
    name: named || hostname().slice(0, 100) || 'unnamed',
    key,
  }
  writePrivate(place, `${JSON.stringify(machine)}\n`)
  return machine
}

// Parsed by hand: loading a schema library takes a hook too long.

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function machineIn(value: unknown): OwnMachine | null {
  const { id, name, key } = membersOf(value)
  const isNamed = typeof name === 'string' && name !== ''
  const isKeyed = typeof key === 'string' && /^[0-9a-f]{64}$/.test(key)
  return typeof id === 'string' && /^e-[0-9a-f]{20}$/.test(id) && isNamed && isKeyed
    ? { id, name, key }
    : null
}

function serversIn(value: unknown): Readonly<Record<string, ServerCredential>> | null {
  const { version, servers } = membersOf(value)
  if (version !== 1 || typeof servers !== 'object' || servers === null) return null
  const credentials = Object.entries(servers).map(([origin, server]) => {
    const { token, trustsCommands } = membersOf(server)
    return typeof token === 'string' && token !== ''
      ? ([origin, { token, trustsCommands: trustsCommands === true }] as const)
      : null
  })
  return credentials.includes(null) ? null : Object.fromEntries(credentials.filter((one) => one !== null))
}

function textOf(place: string): string | null {
  try {
    return readRegularSync(place).toString('utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    throw new Failure('UNAVAILABLE', `${place} cannot be read: ${messageOf(error)}.`, {
      reason: 'file_unreadable',
      hint: 'Make it readable, then run the same command again.',
      cause: error,
    })
  }
}
