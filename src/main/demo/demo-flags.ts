import { parseArgs } from 'node:util'
import { Failure } from '../../domain/failure.ts'
import { nearest } from '../../domain/nearest-word.ts'
import { demoUsage } from '../../surfaces/cli/help/other-commands.ts'

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

const options = {
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
    options,
  })
  refuseUnknown([...Object.keys(values).map((name) => `--${name}`), ...positionals])
  return {
    speed: values['at-once'] === true ? null : numberOf(values.speed, 'speed', { from: 1, to: 100_000 }),
    port: numberOf(values.port, 'port', { from: 0, to: 65_535 }) ?? null,
    open: values.open === true,
    recording: folderOf(values.recording),
  }
}

function refuseUnknown(given: readonly string[]): void {
  const names = Object.keys(options)
  const unknown = given.find((name) => !names.includes(name.replace(/^--/, '')))
  if (unknown === undefined) return
  const meant = nearest(unknown.replace(/^--/, ''), names)
  throw mistaken(
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
  throw mistaken(`--${flag} must be a whole number from ${from} to ${to}, not "${value}".`, '')
}

function folderOf(value: string | boolean | undefined): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw mistaken('--recording needs a folder.', '')
}

function mistaken(message: string, way: string): Failure {
  return new Failure('INVALID_INPUT', message, { hint: `${way}Usage: ${demoUsage}` })
}
