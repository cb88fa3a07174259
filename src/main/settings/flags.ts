import { parseArgs } from 'node:util'
import { Failure } from '../../domain/failure.ts'
import { nearest } from '../../domain/nearest-word.ts'
import type { Toolset } from '../../operations/operation.ts'
import { demoUsage, mcpUsage, serveUsage } from '../../surfaces/cli/other-commands.ts'
import type { Surface } from '../../surfaces/mcp/surface.ts'

/** What `waymark mcp` was started with. */
export interface McpFlags {
  readonly project: string | undefined
  readonly toolsets: Surface['toolsets']
  readonly readOnly: boolean
  /** Lists the gate's tools with the dots of the seed. */
  readonly dottedNames: boolean
}

const toolsets: readonly Toolset[] = ['plan', 'track', 'gate']
const flagNames = ['project', 'toolsets', 'read-only', 'tool-names']
const mcpHint = `Usage: ${mcpUsage}`

export function readMcpFlags(words: readonly string[]): McpFlags {
  const { values, positionals } = parseArgs({
    args: [...words],
    strict: false,
    allowPositionals: true,
    options: {
      project: { type: 'string' },
      toolsets: { type: 'string' },
      'tool-names': { type: 'string' },
      'read-only': { type: 'boolean' },
    },
  })
  refuseUnknown([...Object.keys(values).map((name) => `--${name}`), ...positionals])
  return {
    project: textOf(values['project'], 'project'),
    toolsets: toolsetsOf(textOf(values['toolsets'], 'toolsets')),
    readOnly: values['read-only'] === true,
    dottedNames: isDotted(textOf(values['tool-names'], 'tool-names')),
  }
}

function refuseUnknown(given: readonly string[]): void {
  const unknown = given.find((name) => !flagNames.includes(name.replace(/^--/, '')))
  if (unknown === undefined) return
  const meant = nearest(unknown.replace(/^--/, ''), flagNames)
  const way = meant === undefined ? '' : `Did you mean --${meant}? `
  throw new Failure('INVALID_INPUT', `mcp does not take ${unknown}.`, { hint: `${way}${mcpHint}` })
}

function textOf(value: string | boolean | undefined, flag: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new Failure('INVALID_INPUT', `--${flag} needs a value.`, { hint: mcpHint })
}

/** All when left out. Fails with a sentence for a name that is none. */
function toolsetsOf(text: string | undefined): Surface['toolsets'] {
  if (text === undefined) return toolsets
  if (text.trim() === 'auto') return 'auto'
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !toolsets.some((known) => known === name))
  if (wrong === undefined) return toolsets.filter((known) => names.includes(known))
  throw new Failure('INVALID_INPUT', `There is no toolset "${wrong}".`, {
    hint: `The toolsets are ${toolsets.join(', ')}: --toolsets plan,track. With --toolsets auto the gate's tools are listed once the project has a process or a run.`,
  })
}

function isDotted(text: string | undefined): boolean {
  if (text === undefined || text === 'plain') return false
  if (text === 'dotted') return true
  throw new Failure('INVALID_INPUT', `--tool-names cannot be "${text}": choose plain or dotted.`, {
    hint: mcpHint,
  })
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** What `waymark serve` was started with. */
export interface ServeFlags {
  /** Null where none was named: then a taken one is no obstacle. */
  readonly port: number | null
  readonly host: string
  readonly allowRemote: boolean
  readonly allowHosts: readonly string[]
  readonly projects: readonly string[]
  /** Opens the dashboard in a browser. */
  readonly open: boolean
  readonly logLevel: LogLevel
  /** Which tools MCP lists. */
  readonly toolsets: Surface['toolsets']
}

const serveOptions = {
  port: { type: 'string' },
  host: { type: 'string' },
  'allow-remote': { type: 'boolean' },
  'allow-host': { type: 'string', multiple: true },
  project: { type: 'string', multiple: true },
  open: { type: 'boolean' },
  'log-level': { type: 'string' },
  toolsets: { type: 'string' },
} as const

export function readServeFlags(words: readonly string[]): ServeFlags {
  const { values, positionals } = parseArgs({
    args: [...words],
    strict: false,
    allowPositionals: true,
    options: serveOptions,
  })
  refuseUnknownServe([...Object.keys(values).map((name) => `--${name}`), ...positionals])
  const allowRemote = values['allow-remote'] === true
  return {
    port: portOf(one(values.port, 'port')),
    host: hostOf(one(values.host, 'host'), allowRemote),
    allowRemote,
    allowHosts: many(values['allow-host'], 'allow-host'),
    projects: many(values.project, 'project'),
    open: values.open === true,
    logLevel: levelOf(one(values['log-level'], 'log-level')),
    toolsets: toolsetsOf(one(values.toolsets, 'toolsets')),
  }
}

function refuseUnknownServe(given: readonly string[]): void {
  const names = Object.keys(serveOptions)
  const unknown = given.find((name) => !names.includes(name.replace(/^--/, '')))
  if (unknown === undefined) return
  const meant = nearest(unknown.replace(/^--/, ''), names)
  const way = meant === undefined ? '' : `Did you mean --${meant}? `
  throw mistakenServe(`serve does not take ${unknown}.`, way)
}

type Value = string | boolean | undefined

function one(value: Value, flag: string): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw mistakenServe(`--${flag} needs a value.`)
}

function many(values: readonly Value[] | undefined, flag: string): readonly string[] {
  return (values ?? []).map((value) => one(value, flag) ?? '')
}

function portOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw mistakenServe(`--port must be a number from 0 to 65535, not "${text}".`)
}

function hostOf(host: string | undefined, allowRemote: boolean): string {
  if (host === undefined) return allowRemote ? '0.0.0.0' : '127.0.0.1'
  if (allowRemote || ['127.0.0.1', 'localhost', '::1'].includes(host)) return host
  throw mistakenServe(
    `--host ${host} can be reached from other machines, which needs --allow-remote.`,
    'Make a token first: waymark token add <name>. ',
  )
}

function levelOf(text: string | undefined): LogLevel {
  if (text === undefined) return 'info'
  const level = logLevels.find((known) => known === text)
  if (level !== undefined) return level
  throw mistakenServe(`--log-level cannot be "${text}": choose ${logLevels.join(', ')}.`)
}

function mistakenServe(message: string, way = ''): Failure {
  return new Failure('INVALID_INPUT', message, { hint: `${way}Usage: ${serveUsage}` })
}

/** What `waymark demo play` was started with. */
export interface DemoFlags {
  /** Null for the whole day at once; undefined for as quick as takes a minute. */
  readonly speed: number | null | undefined
  /** Null where none was named: then a taken one is no obstacle. */
  readonly port: number | null
  /** Opens the dashboard in a browser. */
  readonly open: boolean
  /** A folder with another recording than the one that comes with the program. */
  readonly recording: string | undefined
}

const demoOptions = {
  speed: { type: 'string' },
  'at-once': { type: 'boolean' },
  port: { type: 'string' },
  open: { type: 'boolean' },
  recording: { type: 'string' },
} as const

export function readDemoFlags(words: readonly string[]): DemoFlags {
  const { values, positionals } = parseArgs({
    args: [...words],
    strict: false,
    allowPositionals: true,
    options: demoOptions,
  })
  refuseUnknownDemo([...Object.keys(values).map((name) => `--${name}`), ...positionals])
  return {
    speed: values['at-once'] === true ? null : numberOf(values.speed, 'speed', { from: 1, to: 100_000 }),
    port: numberOf(values.port, 'port', { from: 0, to: 65_535 }) ?? null,
    open: values.open === true,
    recording: folderOf(values.recording),
  }
}

function refuseUnknownDemo(given: readonly string[]): void {
  const names = Object.keys(demoOptions)
  const unknown = given.find((name) => !names.includes(name.replace(/^--/, '')))
  if (unknown === undefined) return
  const meant = nearest(unknown.replace(/^--/, ''), names)
  throw mistakenDemo(
    `demo play does not take ${unknown}.`,
    meant === undefined ? '' : `Did you mean --${meant}? `,
  )
}

function numberOf(
  value: string | boolean | undefined,
  flag: string,
  { from, to }: { readonly from: number; readonly to: number },
): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (typeof value === 'string' && /^\d+$/.test(value) && number >= from && number <= to) return number
  throw mistakenDemo(`--${flag} must be a whole number from ${from} to ${to}, not "${value}".`, '')
}

function folderOf(value: string | boolean | undefined): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw mistakenDemo('--recording needs a folder.', '')
}

function mistakenDemo(message: string, way: string): Failure {
  return new Failure('INVALID_INPUT', message, { hint: `${way}Usage: ${demoUsage}` })
}
