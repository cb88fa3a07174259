import { parseArgs } from 'node:util'
import { Failure } from '../../domain/failure.ts'
import { nearest } from '../../domain/nearest-word.ts'
import type { Toolset } from '../../operations/operation.ts'
import { mcpUsage } from '../../surfaces/cli/help/other-commands.ts'
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
const usage = `Usage: ${mcpUsage}`

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

/** All when left out. Fails with a sentence for a name that is none. */
export function toolsetsOf(text: string | undefined): Surface['toolsets'] {
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
    hint: usage,
  })
}
