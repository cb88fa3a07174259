import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { errorCode, Failure, messageOf } from '../../kernel/failure.ts'
import { pathFailure, removeContained, writeContained } from '../../kernel/files/contained-file.ts'
import { writePrivate } from '../../kernel/files/private-file.ts'
import { readRegularSync } from '../../kernel/files/regular-file.ts'
import { parseJson } from '../../kernel/json.ts'
import type { RemoteMachine } from '../../kernel/operations/operation.ts'
import { machineIdOf } from '../operations/contract.ts'

/** The servers that a user of this machine knows, each with its token; and which of them a project is kept at. */

export interface ServerCredential {
  readonly token: string
  /** Commands of guards that a person approved at the server run here, too. */
  readonly trustsCommands: boolean
}

/** A project at a server: where its calls go, and with which token. */
export interface ConnectedServer extends ServerCredential {
  /** Scheme, host and port. */
  readonly origin: string
  /** The project's key there; null for the server's first one. */
  readonly project: string | null
}

/** Where requests of the project go. */
export function baseOf({ origin, project }: Pick<ConnectedServer, 'origin' | 'project'>): string {
  return project === null ? origin : `${origin}/p/${encodeURIComponent(project)}`
}

const ipv4Loopback = /^127(?:\.\d{1,3}){3}$/

/** Reads an address as a person writes it. Fails for one over which a token would be read by others. */
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

/** The name of the file, in a project's `.waymark`, that says at which server the project is kept. */
const serverFile = 'server'

/** What a project's file says; null where there is none. */
export function projectServer(root: string): Pick<ConnectedServer, 'origin' | 'project'> | null {
  const [address = ''] = linesOf(root)
  return address === '' ? null : parseAddress(address)
}

/** Whether hooks forbid what they know nothing about: a line of the same file, `hooks: closed`. */
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
    const done = writeContained(root, path, text)
    if ('reason' in done) throw pathFailure(path, done)
  }
}

/** Says no more at which server the project is kept. The token stays: other projects may be kept there. */
export function forgetProjectServer(root: string): void {
  removeContained(root, join('.waymark', serverFile))
}

export interface ServerRequest {
  /** The value of `--server`. */
  readonly flag: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The project's root, where `.waymark` lies. */
  readonly root: string
  /** Where the user's servers are kept. */
  readonly folder: string
}

/**
 * The server that a project is kept at; null where this machine keeps it. What a file of the project says chooses among
 * the servers that its user knows, and never names a new one: a token goes only to the origin that it was given for.
 */
export function connectedServer({ flag, environment, root, folder }: ServerRequest): ConnectedServer | null {
  const named = flag ?? (environment['WAYMARK_SERVER'] || undefined)
  const token = environment['WAYMARK_TOKEN']?.trim() || undefined
  const address = named === undefined ? projectServer(root) : parseAddress(named)
  if (address === null) return null
  const known = new ServerCredentials(folder).find(address.origin)
  if (token !== undefined && named !== undefined) {
    return { ...address, token, trustsCommands: known?.trustsCommands ?? false }
  }
  if (known) return { ...address, ...known }
  const who = named === undefined ? `${join(root, '.waymark', serverFile)} names` : 'You name'
  throw new Failure('REFUSED', `${who} ${address.origin}, for which there is no token on this machine.`, {
    reason: 'server_not_connected',
    hint: `Connect to it first: waymark connect ${baseOf(address)}`,
  })
}

/** This machine as one server knows it, with the key that only the two know: its id is made from the key. */
export interface OwnMachine extends RemoteMachine {
  readonly key: string
}

/**
 * Names this machine among all that work with a server: made once for each, so that no server can speak as this machine
 * at another one.
 */
export function thisMachine(folder: string, origin: string): OwnMachine {
  const place = join(folder, 'machine-keys', `${encodeURIComponent(origin)}.json`)
  const kept = machineIn(parseJson(textOf(place) ?? ''))
  if (kept) return kept
  // Loading it takes a hook ten milliseconds, and it is needed once for each server.
  const { randomBytes, hash } = process.getBuiltinModule('node:crypto')
  const key = randomBytes(32).toString('hex')
  const made = { id: machineIdOf(hash('sha256', key)), name: hostname().slice(0, 100) || 'unnamed', key }
  writePrivate(place, `${JSON.stringify(made)}\n`)
  return made
}

// Read by hand: a hook has no time to load what checks schemas.

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
  const known = Object.entries(servers).map(([origin, server]) => {
    const { token, trustsCommands } = membersOf(server)
    return typeof token === 'string' && token !== ''
      ? ([origin, { token, trustsCommands: trustsCommands === true }] as const)
      : null
  })
  return known.includes(null) ? null : Object.fromEntries(known.filter((one) => one !== null))
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
