import { parseArgs } from 'node:util'
import { Failure } from '../../domain/failure.ts'
import { nearest } from '../../domain/nearest-word.ts'
import type { Toolset } from '../../operations/operation.ts'

/** What `waymark mcp` was started with. */
export interface McpFlags {
  readonly project: string | undefined
  /** Which tools are listed; all when left out. */
  readonly toolsets: readonly Toolset[]
  readonly readOnly: boolean
  /** Lists the gate's tools with the dots of the seed. */
  readonly dottedNames: boolean
}

const toolsets: readonly Toolset[] = ['plan', 'track', 'gate']
const flagNames = ['project', 'toolsets', 'read-only', 'tool-names']
const usage =
  'Usage: waymark mcp [--project <folder>] [--toolsets plan,track,gate] [--read-only] [--tool-names dotted]'

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
  throw new Failure('INVALID_INPUT', `mcp does not take ${unknown}.`, { hint: `${way}${usage}` })
}

function textOf(value: string | boolean | undefined, flag: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new Failure('INVALID_INPUT', `--${flag} needs a value.`, { hint: usage })
}

function toolsetsOf(text: string | undefined): readonly Toolset[] {
  if (text === undefined) return toolsets
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !toolsets.some((known) => known === name))
  if (wrong === undefined) return toolsets.filter((known) => names.includes(known))
  throw new Failure('INVALID_INPUT', `There is no toolset "${wrong}".`, {
    hint: `The toolsets are ${toolsets.join(', ')}: --toolsets plan,track`,
  })
}

function isDotted(text: string | undefined): boolean {
  if (text === undefined || text === 'plain') return false
  if (text === 'dotted') return true
  throw new Failure('INVALID_INPUT', `--tool-names cannot be "${text}": choose plain or dotted.`, {
    hint: usage,
  })
}
