import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { readArguments } from '../../src/surfaces/cli/arguments.ts'
import { commandGroup, findCommand } from '../../src/surfaces/cli/commands.ts'
import { flagsIn, type OtherCommand, otherCommands } from '../../src/surfaces/cli/other-commands.ts'
import { waymarkCommands, wordsOf } from './command-lines.ts'

const root = join(import.meta.dirname, '..', '..')

const pages = [
  'README.md',
  'docs/README.md',
  ...readdirSync(join(root, 'docs', 'guide')).map((name) => `docs/guide/${name}`),
]

/** Command lines of code blocks, and command lines that are quoted in a sentence. */
function commandLines(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^ *```\w*\n(.*?)^ *```$/gms)].map(([, block = '']) => block)
  const spans = text.replaceAll(/^ *```\w*\n.*?^ *```$/gms, '').matchAll(/`(waymark(?: [^`]*)?)`/g)
  return [
    ...blocks.flatMap((block) => block.split('\n')).flatMap(waymarkCommands),
    ...[...spans].map(([, span = '']) => span.replaceAll('\n', ' ')),
  ]
}

/** Why the command line would refuse these words before it runs anything, or null. */
function problemOf(words: readonly string[]): string | null {
  if (words.length === 0 || words[0]?.startsWith('--')) return null
  const found = findCommand(catalog, words)
  const other = otherCommands
    .filter(({ command, joins }) => !joins && command.split(' ').every((word, at) => words[at] === word))
    .sort((a, b) => b.command.length - a.command.length)[0]
  if (found && (other?.command.length ?? 0) < found.operation.command.length) {
    try {
      readArguments(found.operation, withoutJoined(found.operation.command, found.rest))
      return null
    } catch (error) {
      return String(error)
    }
  }
  if (words.length === 1 && commandGroup(catalog, words[0] ?? '').length > 0) return null
  return other ? problemOfOther(other, words) : `There is no command "${words.join(' ')}".`
}

/** The words without the flags that another command adds to the operation. */
function withoutJoined(command: string, words: readonly string[]): readonly string[] {
  const joined = otherCommands.filter((other) => other.joins && other.command === command)
  const names = joined.flatMap(({ usage }) => flagsIn(usage)).map(({ name }) => `--${name}`)
  return words.filter((word, at) => !names.includes(word) && !names.includes(words[at - 1] ?? ''))
}

function problemOfOther({ command, usage, words: choices }: OtherCommand, words: readonly string[]) {
  const known = new Set(['help', ...flagsIn(usage).map(({ name }) => name)])
  const flags = words.flatMap((word) => /^--([a-z-]+)/.exec(word)?.[1] ?? [])
  const unknown = flags.filter((flag) => !known.has(flag))
  if (unknown.length > 0) return `${command} has no flag --${unknown.join(', --')}.`
  const place = words[command.split(' ').length]
  const isNamed = place === undefined || place.startsWith('-') || place.startsWith('<')
  return isNamed || !choices || choices.includes(place) ? null : `${command} does not know "${place}".`
}

describe('the commands of the guides exist, with their flags', () => {
  test.each(pages)('%s', (page) => {
    const refused = commandLines(page).flatMap((line) => {
      const problem = problemOf(wordsOf(line))
      return problem === null ? [] : [`${line} → ${problem}`]
    })
    expect(refused).toEqual([])
  })

  test('finds the commands of a shell line', () => {
    expect(waymarkCommands('$ WAYMARK_FORMAT=json waymark report m-1 | jq . # all')).toEqual([
      'waymark report m-1',
    ])
    expect(wordsOf('waymark resolve h-1 "Use cookies."')).toEqual(['resolve', 'h-1', 'Use cookies.'])
  })

  test.each([
    'waymark tsk list',
    'waymark task list --raedy',
    'waymark status now',
    'waymark serve --prot 80',
    'waymark setup emacs',
    'waymark check --gitlabs out.json',
  ])('refuses %s', (line) => {
    expect(problemOf(wordsOf(line))).not.toBeNull()
  })
})
