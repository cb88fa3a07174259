import { parseArgs } from 'node:util'
import { Failure } from '../../kernel/failure.ts'
import { nearestWord } from '../../kernel/nearest-word.ts'
import type { Toolset } from '../../kernel/operations/operation.ts'
import { flagsIn, otherCommands } from '../../surfaces/cli/other-commands.ts'
import type { Surface } from '../../surfaces/mcp/surface.ts'
import { formatIn } from './environment.ts'

/** The arguments of a command of the program itself, parsed by its usage. */
export interface CommandArguments {
  readonly positionals: readonly string[]
  readonly has: (flag: string) => boolean
  /** The value of a flag, the last one where it was given several times. */
  readonly text: (flag: string) => string | undefined
  readonly texts: (flag: string) => readonly string[]
  /** A failure for wrong arguments, with the usage as hint. */
  readonly flagFailure: (message: string, hint?: string) => Failure
}

/** Reads what follows a command. Fails with INVALID_INPUT for a flag that it does not take. */
export function readWords(command: string, words: readonly string[]): CommandArguments {
  const usage = otherCommands.find((other) => other.command === command)?.usage ?? ''
  const flags = flagsIn(usage)
  const options = Object.fromEntries(
    flags.map(({ name, takesValue }) => [
      name,
      { type: takesValue ? ('string' as const) : ('boolean' as const), multiple: true },
    ]),
  )
  const { values, positionals } = parseArgs({
    args: [...words],
    strict: false,
    allowPositionals: true,
    options,
  })
  const flagFailure = (message: string, hint = '') =>
    new Failure('INVALID_INPUT', message, { reason: 'usage_invalid', hint: `${hint}Usage: ${usage}` })
  const names = flags.map(({ name }) => name)
  const unknown = Object.keys(values).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const meant = nearestWord(unknown, names)
    throw flagFailure(`${command} does not take --${unknown}.`, meant && `Did you mean --${meant}? `)
  }
  const texts = (flag: string) =>
    [values[flag] ?? []].flat().flatMap((value) => {
      if (typeof value !== 'string') throw flagFailure(`--${flag} needs a value.`)
      return value === '' ? [] : [value] // a client passes '' for an unset variable
    })
  return {
    positionals,
    has: (flag) => values[flag] !== undefined,
    text: (flag) => texts(flag).at(-1),
    texts,
    flagFailure,
  }
}

/** Whether the output is JSON. */
export function isJsonRequested(flags: CommandArguments): boolean {
  const named = choiceOf(flags, 'format', ['json', 'text']) ?? (flags.has('json') ? 'json' : undefined)
  return (named ?? formatIn(process.env)) === 'json'
}

/** The same for a command that takes nothing but flags. */
function readFlags(command: string, words: readonly string[]): CommandArguments {
  const read = readWords(command, words)
  const [odd] = read.positionals
  if (odd !== undefined) throw read.flagFailure(`${command} does not take ${odd}.`)
  return read
}

/** One of several words. */
function choiceOf<const Choice extends string>(
  { text, flagFailure }: CommandArguments,
  flag: string,
  choices: readonly Choice[],
): Choice | undefined {
  const given = text(flag)
  const choice = choices.find((one) => one === given)
  if (given === undefined || choice !== undefined) return choice
  throw flagFailure(
    `--${flag} cannot be "${given}": choose ${choices.join(', ').replace(/, ([^,]*)$/, ' or $1')}.`,
  )
}

function numberOf(
  { text, flagFailure }: CommandArguments,
  flag: string,
  { from, to }: { readonly from: number; readonly to: number },
): number | undefined {
  const given = text(flag)
  if (given === undefined) return undefined
  const number = Number(given)
  if (/^\d+$/.test(given) && number >= from && number <= to) return number
  throw flagFailure(`--${flag} must be a whole number from ${from} to ${to}, not "${given}".`)
}

/** The options of `waymark mcp`. */
export interface McpFlags {
  readonly project: string | undefined
  /** The address of the project's server, if the project's file does not name it. */
  readonly server: string | undefined
  readonly toolsets: Surface['toolsets']
  readonly readOnly: boolean
  /** Lists the gate's tools with the dots of state_gate. */
  readonly dottedNames: boolean
}

export function readMcpFlags(words: readonly string[]): McpFlags {
  const flags = readFlags('mcp', words)
  return {
    project: flags.text('project'),
    server: flags.text('server'),
    toolsets: toolsetsOf(flags),
    readOnly: flags.has('read-only'),
    dottedNames: choiceOf(flags, 'tool-names', ['plain', 'dotted']) === 'dotted',
  }
}

const toolsets: readonly Toolset[] = ['plan', 'track', 'gate']

/** All toolsets by default. */
function toolsetsOf({ text }: CommandArguments): Surface['toolsets'] {
  const given = text('toolsets')
  if (given === undefined) return toolsets
  if (given.trim() === 'auto') return 'auto'
  const names = given.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !toolsets.some((toolset) => toolset === name))
  if (wrong === undefined) return toolsets.filter((toolset) => names.includes(toolset))
  throw new Failure('INVALID_INPUT', `There is no toolset "${wrong}".`, {
    reason: 'toolset_unknown',
    hint: `The toolsets are ${toolsets.join(', ')}: --toolsets plan,track. With --toolsets auto the gate's tools are listed once the project has a process or a run.`,
  })
}

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

const anyPort = { from: 0, to: 65_535 }

/** The options of `waymark serve`. */
export interface ServeFlags {
  /** Null by default: then it skips a port that is taken. */
  readonly port: number | null
  readonly host: string
  readonly allowRemote: boolean
  readonly allowHosts: readonly string[]
  /** A proxy in front reports the client's address and whether it uses TLS. */
  readonly trustProxy: boolean
  /** Only this machine has access, without a proxy: webhooks may use private networks without a flag. */
  readonly reachesPrivate: boolean
  /** The public address of the dashboard, if it is not this machine's port. */
  readonly publicUrl: string | undefined
  readonly oidcIssuer: string | undefined
  readonly oidcClient: string | undefined
  readonly projects: readonly string[]
  /** Opens the dashboard in a browser. */
  readonly open: boolean
  /** Ends the server that runs instead of starting one. */
  readonly stop: boolean
  readonly logLevel: LogLevel
  /** The tools that MCP lists. */
  readonly toolsets: Surface['toolsets']
}

export function readServeFlags(words: readonly string[]): ServeFlags {
  const flags = readFlags('serve', words)
  const host = hostOf(flags)
  const isKnownElsewhere = ['allow-host', 'trust-proxy', 'public-url'].some((name) => flags.has(name))
  return {
    port: numberOf(flags, 'port', anyPort) ?? null,
    host,
    allowRemote: flags.has('allow-remote'),
    allowHosts: flags.texts('allow-host'),
    trustProxy: flags.has('trust-proxy'),
    reachesPrivate: loopback.includes(host) && !isKnownElsewhere,
    publicUrl: urlOf(flags),
    oidcIssuer: flags.text('oidc-issuer'),
    oidcClient: flags.text('oidc-client'),
    projects: flags.texts('project'),
    open: flags.has('open'),
    stop: flags.has('stop'),
    logLevel: choiceOf(flags, 'log-level', logLevels) ?? 'info',
    toolsets: toolsetsOf(flags),
  }
}

function urlOf({ text, flagFailure }: CommandArguments): string | undefined {
  const given = text('public-url')
  if (given === undefined) return undefined
  const url = URL.parse(given)
  if (url && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  throw flagFailure(`--public-url must be an address of http or https, not "${given}".`)
}

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '::1']

function hostOf({ text, has, flagFailure }: CommandArguments): string {
  const host = text('host') ?? (has('allow-remote') ? '0.0.0.0' : '127.0.0.1')
  if (has('allow-remote') || loopback.includes(host)) return host
  throw flagFailure(
    `--host ${host} accepts other machines, which needs --allow-remote.`,
    'Create a token first: waymark token create <name>. ',
  )
}

/** The options of `waymark open`. */
export interface OpenFlags {
  readonly project: string | undefined
  readonly browser: boolean
  readonly json: boolean
}

export function readOpenFlags(words: readonly string[]): OpenFlags {
  const flags = readFlags('open', words)
  return {
    project: flags.text('project'),
    browser: !flags.has('no-open'),
    json: isJsonRequested(flags),
  }
}

/** The options of `waymark watch`. */
export interface WatchFlags {
  readonly json: boolean
  readonly all: boolean
  readonly notify: boolean
  readonly project: string | undefined
}

export function readWatchFlags(words: readonly string[]): WatchFlags {
  const flags = readFlags('watch', words)
  return {
    json: flags.has('json') || formatIn(process.env) === 'json',
    all: flags.has('all'),
    notify: flags.has('notify'),
    project: flags.text('project'),
  }
}

/** The project of `waymark top`. */
export function readTopFlags(words: readonly string[]): { readonly project: string | undefined } {
  return { project: readFlags('top', words).text('project') }
}

/** The options of `waymark demo`. */
export interface DemoFlags {
  /** Null plays the whole day at once; undefined plays it within a minute. */
  readonly speed: number | null | undefined
  /** Null by default: then it skips a port that is taken. */
  readonly port: number | null
  /** Whether the dashboard is opened in a browser, where there is one. */
  readonly open: boolean
  /** A person starts the day on the page. */
  readonly wait: boolean
  /** A folder with another recording than the one that comes with the program. */
  readonly recording: string | undefined
}

export function readDemoFlags(words: readonly string[]): DemoFlags {
  const flags = readFlags('demo', words)
  return {
    speed: flags.has('at-once') ? null : numberOf(flags, 'speed', { from: 1, to: 100_000 }),
    port: numberOf(flags, 'port', anyPort) ?? null,
    open: !flags.has('no-open'),
    wait: flags.has('wait'),
    recording: flags.text('recording'),
  }
}
