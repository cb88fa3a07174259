import { spawn } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { processEnd } from '../../kernel/process-end.ts'
import type { ClientHealth } from '../ports/client-health.ts'
import type { Client, ServerEntryLocation, TextReader } from './client.ts'
import { detectClients } from './detect.ts'
import type { Edit, SetupChange } from './edit/edit-file.ts'
import { jsonValue } from './edit/json.ts'
import type { Json } from './edit/json-text.ts'
import { tomlTable } from './edit/toml.ts'
import { hasServerAt } from './plan-setup.ts'
import { setupClients } from './setup-clients.ts'
import { type SetupContext, setupPathsOf } from './setup-context.ts'

export interface HealthContext {
  readonly context: SetupContext
  readonly read: TextReader
  readonly exists: (path: string) => boolean
  readonly changesOf: (file: string) => readonly SetupChange[]
}

/** Whether each client that is set up, or used here, can work: its entry, its command, its project, its trust. */
export async function clientsHealth(inputs: HealthContext): Promise<readonly ClientHealth[]> {
  const starts = new Map<string, Promise<string | null>>()
  const used = detectClients(inputs.context, inputs.exists).map(({ client }) => client)
  const found = await Promise.all(
    setupClients.map((client) => healthOf(client, { ...inputs, isUsed: used.includes(client), starts })),
  )
  return found.filter((one) => one !== null)
}

async function healthOf(
  client: Client,
  inputs: HealthContext & {
    /** `waymark init` would detect it on this machine. */
    readonly isUsed: boolean
    readonly starts: Map<string, Promise<string | null>>
  },
): Promise<ClientHealth | null> {
  const { context, read, isUsed, starts } = inputs
  const place = configuredServerPlace(client, inputs)
  // A client that is not installed is not reported because of files of other clients.
  if (!isUsed && !(place && isSetUp(client, inputs.changesOf(place.file)))) return null
  const about = (ok: boolean, ...findings: readonly string[]) => ({
    client: client.id,
    ok,
    finding: `${client.title}: ${findings.filter(Boolean).join('; ')}`,
  })
  const plugin = client.plugin?.(context, read) ?? null
  if (place === undefined && plugin !== null) {
    return about(true, `its plugin brings the server, and ${plugin} switches it on`)
  }
  if (place === undefined) return about(true, `not set up here: waymark setup ${client.id}`)
  const entry = entryAt(place, read)
  if (entry === null) return about(false, `the entry in ${place.file} names no command`)
  const trust = client.trust?.(context, read) ?? null
  const complaint = await startComplaint(entry, place, inputs, starts)
  return about(
    complaint === null && trust?.ok !== false,
    `the entry is in ${place.file}`,
    complaint ?? 'its command starts and answers',
    `project ${projectOf(entry, context)}`,
    trust?.says ?? '',
    isAllowed(client, place, inputs) ? 'its tools are allowed' : '',
  )
}

function isSetUp({ id }: Client, changes: readonly SetupChange[]): boolean {
  return changes.some(({ owners }) => owners.some((owner) => owner.split(' ')[0] === id))
}

/** The location of the server's entry for this folder, without plugins. */
function configuredServerPlace(
  client: Client,
  { context, read }: Pick<HealthContext, 'context' | 'read'>,
): ServerEntryLocation | undefined {
  const places = [
    client.server(context, 'project'),
    client.server(context, 'user'),
    client.alsoWrites?.(context) ?? null,
    ...(client.seesServers?.(context) ?? []),
  ]
  return places.flatMap((place) => place ?? []).find((place) => hasServerAt(place, read))
}

/** Whether a client started in the folder has Waymark. */
export function hasServerEntry(client: Client, at: Pick<HealthContext, 'context' | 'read'>): boolean {
  return (
    configuredServerPlace(client, at) !== undefined || (client.plugin?.(at.context, at.read) ?? null) !== null
  )
}

interface ServerEntry {
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly value: unknown
}

function entryAt({ file, holder }: ServerEntryLocation, read: TextReader): ServerEntry | null {
  const text = read(file) ?? ''
  const value: unknown = holder.kind === 'json' ? jsonValue(text, holder.keys) : tomlTable(text, holder.name)
  if (typeof value !== 'object' || value === null) return null
  const fields = value as { readonly command?: unknown; readonly args?: unknown; readonly env?: unknown }
  // OpenCode writes command and arguments as one list.
  const words = [fields.command ?? [], fields.args ?? []].flat()
  const [command, ...args] = words.filter((word) => typeof word === 'string')
  if (command === undefined) return null
  const environment = Object.entries(fields.env ?? {}).filter(([, text]) => typeof text === 'string')
  return { command, args, environment: Object.fromEntries(environment), value }
}

function projectOf({ args, environment }: ServerEntry, context: SetupContext): string {
  const named = args[args.indexOf('--project') + 1]
  if (args.includes('--project') && named !== undefined) return named
  return expandWorkspaceFolder(environment['WAYMARK_PROJECT'] ?? context.folder, context)
}

function expandWorkspaceFolder(text: string, { folder }: SetupContext): string {
  return text.replaceAll(/\$\{workspace(?:Folder|Path)\}/g, folder)
}

/** Why the command of an entry does not work; null where it does. */
function startComplaint(
  entry: ServerEntry,
  place: ServerEntryLocation,
  { context, exists, changesOf }: HealthContext,
  starts: Map<string, Promise<string | null>>,
): Promise<string | null> | string {
  const { command, args } = entry
  const line = [command, ...args].join(' ')
  const program = [command, args[0] ?? ''].filter((word) => isAbsolute(word))
  const missing = program.find((file) => !exists(file))
  if (missing !== undefined) return `its command does not start: there is no ${missing}`
  const isRecorded = changesOf(place.file).some(
    (change) => change.kind === 'added' && isDeepStrictEqual(change.value, entry.value),
  )
  if (/^(?:npx|cmd)$/.test(command)) return `its command was not tried, as npx may have to fetch it: ${line}`
  if (!isRecorded && !isOfSetup(entry, place, context)) {
    const beside = Object.keys(entry.environment).join(', ')
    return `its command is not one of setup, so it was not tried: ${line}${beside && `, with ${beside}`}`
  }
  const environment = Object.fromEntries(
    Object.entries(entry.environment).map(([name, text]) => [name, expandWorkspaceFolder(text, context)]),
  )
  const key = JSON.stringify([line, environment])
  const started = starts.get(key) ?? canInitialize(entry, environment, context)
  starts.set(key, started)
  return started
}

/** A repository's file may name any program: only commands that setup writes are started. */
function isOfSetup(
  { command, args, environment }: ServerEntry,
  place: ServerEntryLocation,
  context: SetupContext,
): boolean {
  const isThisCopy = command === context.program.node && args[0] === context.program.bin
  if (command !== 'waymark' && !isThisCopy) return false
  if (!place.file.startsWith(setupPathsOf(context).project())) return true
  const [first, ...rest] = isThisCopy ? args.slice(1) : args
  const isKnown = (word: string) =>
    word === context.folder || /^(?:--(?:toolsets|project)|[a-z,]+)$/.test(word)
  const isPlain = Object.keys(environment).every((name) => name === 'WAYMARK_PROJECT')
  return first === 'mcp' && rest.every(isKnown) && isPlain
}

// A busy machine takes seconds to start Node.
const patience = 15_000

/** Starts a server as the client would, and waits for its first answer. */
function canInitialize(
  { command, args }: ServerEntry,
  environment: Readonly<Record<string, string>>,
  { folder, platform, environment: own }: SetupContext,
): Promise<string | null> {
  return new Promise((resolve) => {
    const server = spawn(command, args, {
      cwd: folder,
      env: { ...own, ...environment },
      stdio: ['pipe', 'pipe', 'ignore'],
      signal: processEnd,
      killSignal: 'SIGKILL',
      // npm's commands are scripts on Windows.
      shell: platform === 'win32' && !isAbsolute(command),
      windowsHide: true,
    })
    let output = ''
    const end = (complaint: string | null) => {
      clearTimeout(late)
      server.kill('SIGKILL')
      resolve(complaint)
    }
    const late = setTimeout(
      () => end(`its command did not answer in ${patience / 1000} s: ${command}`),
      patience,
    )
    server.on('error', () => end(`its command does not start: ${command} is not on the PATH`))
    server.on('exit', (code) => end(`its command ended with ${code ?? 'a signal'} instead of answering`))
    server.stdin.on('error', () => undefined)
    server.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
      const line = output.split('\n').find((one) => /"id"\s*:\s*1\b/.test(one))
      if (line !== undefined)
        end(/"result"/.test(line) ? null : `its command answers with an error: ${line.slice(0, 200)}`)
    })
    server.stdin.write(`${JSON.stringify(initialize)}\n`)
  })
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'waymark-doctor', version: '1' },
  },
}

/** As far as files show. */
function isAllowed(client: Client, place: ServerEntryLocation, { context, read }: HealthContext): boolean {
  const { allow } = client
  if (allow.kind === 'always') return true
  if (allow.kind === 'person') return false
  if (allow.kind === 'files') {
    return (['project', 'user'] as const).some((scope) => {
      const edits = allow.edits({ context, scope, tools: ['start_task'], byPlugin: false })
      const isHeld = (edit: Edit) =>
        edit.kind === 'json' && hasValueAt(read(edit.file) ?? '', edit.place, edit.value)
      return edits.length > 0 && edits.every(isHeld)
    })
  }
  const value = entryAt(place, read)?.value
  const marks = ['trust', 'default_tools_approval_mode', 'autoApprove']
  return typeof value === 'object' && value !== null && marks.some((mark) => mark in value)
}

function hasValueAt(
  text: string,
  { keys, item }: { readonly keys: readonly string[]; readonly item: boolean },
  value: Json,
): boolean {
  const found = jsonValue(text, keys)
  if (!item) return isDeepStrictEqual(found, value)
  return Array.isArray(found) && found.some((one) => isDeepStrictEqual(one, value))
}
