import { parseArgs } from 'node:util'
import { Failure } from '../../domain/failure.ts'
import { nearest } from '../../domain/nearest-word.ts'
import { serveUsage } from '../../surfaces/cli/help/other-commands.ts'
import type { Surface } from '../../surfaces/mcp/surface.ts'
import { toolsetsOf } from './mcp-flags.ts'

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

const options = {
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
    options,
  })
  refuseUnknown([...Object.keys(values).map((name) => `--${name}`), ...positionals])
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

function refuseUnknown(given: readonly string[]): void {
  const names = Object.keys(options)
  const unknown = given.find((name) => !names.includes(name.replace(/^--/, '')))
  if (unknown === undefined) return
  const meant = nearest(unknown.replace(/^--/, ''), names)
  const way = meant === undefined ? '' : `Did you mean --${meant}? `
  throw mistaken(`serve does not take ${unknown}.`, way)
}

type Value = string | boolean | undefined

function one(value: Value, flag: string): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw mistaken(`--${flag} needs a value.`)
}

function many(values: readonly Value[] | undefined, flag: string): readonly string[] {
  return (values ?? []).map((value) => one(value, flag) ?? '')
}

function portOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw mistaken(`--port must be a number from 0 to 65535, not "${text}".`)
}

function hostOf(host: string | undefined, allowRemote: boolean): string {
  if (host === undefined) return allowRemote ? '0.0.0.0' : '127.0.0.1'
  if (allowRemote || ['127.0.0.1', 'localhost', '::1'].includes(host)) return host
  throw mistaken(
    `--host ${host} can be reached from other machines, which needs --allow-remote.`,
    'Make a token first: waymark token add <name>. ',
  )
}

function levelOf(text: string | undefined): LogLevel {
  if (text === undefined) return 'info'
  const level = logLevels.find((known) => known === text)
  if (level !== undefined) return level
  throw mistaken(`--log-level cannot be "${text}": choose ${logLevels.join(', ')}.`)
}

function mistaken(message: string, way = ''): Failure {
  return new Failure('INVALID_INPUT', message, { hint: `${way}Usage: ${serveUsage}` })
}
