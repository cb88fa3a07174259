import { nearestWord } from '../../kernel/nearest-word.ts'
import type { Operation } from '../../kernel/operations/operation.ts'
import { usageFailure } from './flags.ts'
import { otherCommands } from './other-commands.ts'

export interface CommandMatch {
  readonly operation: Operation
  /** The arguments after the command. */
  readonly rest: readonly string[]
}

/** The longest command at the start of the words: `task start …` or `task:start …`. */
export function findCommand(operations: readonly Operation[], words: readonly string[]): CommandMatch | null {
  const spoken = commandWordsOf(words)
  const fitting = operations
    .flatMap((operation) => commandsOf(operation).map((command) => ({ operation, command })))
    // Some flags are commands of their own: `doctor --repair`.
    .filter(({ command }) => isCommandTyped(command, { words, spoken }))
    .sort((a, b) => b.command.length - a.command.length)[0]
  if (!fitting) return null
  const { operation, command } = fitting
  const [name = '', flag] = partsOf(command)
  const rest = words[0]?.includes(':') ? words.slice(1) : words.slice(name.split(' ').length)
  const at = flag === undefined ? -1 : rest.indexOf(flag)
  return { operation, rest: at === -1 ? rest : rest.toSpliced(at, 1) }
}

/** The command's words, with a flag that belongs to it anywhere before `--`. */
function partsOf(command: string): readonly string[] {
  return command.split(/ (?=--)/)
}

function isCommandTyped(
  command: string,
  { words, spoken }: { readonly words: readonly string[]; readonly spoken: readonly string[] },
): boolean {
  const [name = '', flag] = partsOf(command)
  if (!isPrefix(name.split(' '), spoken)) return false
  const end = words.indexOf('--')
  return flag === undefined || (end === -1 ? words : words.slice(0, end)).includes(flag)
}

function commandsOf({ command, aliases = [] }: Operation): readonly string[] {
  return [command, ...aliases]
}

/** The commands of a group such as `task`. */
export function commandGroup(operations: readonly Operation[], word: string): readonly Operation[] {
  return operations.filter(({ command }) => command.startsWith(`${word} `))
}

/** The failure for an unknown command, with the nearest known one. */
export function unknownCommand(operations: readonly Operation[], words: readonly string[]): Error {
  const spoken = commandWordsOf(words)
  const [first = ''] = spoken
  const group = commandGroup(operations, first)
  if (group.length > 0) {
    const names = group.map(({ command }) => command)
    const meant = showVerbs.has(spoken[1] ?? '')
      ? 'show <id>'
      : (sameVerb(first, spoken[1] ?? '', names) ??
        nearestWord(spoken.slice(0, 2).join(' '), names) ??
        otherNames.get(first))
    const suggestion = meant === undefined ? '' : `Did you mean: waymark ${meant}\n`
    return usageFailure(
      `There is no command "${spoken.slice(0, 2).join(' ')}".`,
      `${suggestion}waymark ${first} lists its commands.`,
    )
  }
  const all = [...operations.map(({ command }) => command), ...otherCommands.map(({ command }) => command)]
  const names = [...new Set([...all, ...all.map((command) => command.split(' ')[0] ?? '')])]
  const meant =
    otherNames.get(spoken[0] ?? '') ??
    commandOfTool(operations, spoken[0] ?? '') ??
    listOf(operations, spoken[0] ?? '') ??
    nearestWord(spoken.slice(0, 2).join(' '), names) ??
    nearestWord(spoken[0] ?? '', names)
  const hint =
    meant === undefined ? 'waymark help --all lists the commands.' : `Did you mean: waymark ${meant}`
  return usageFailure(`There is no command "${spoken.slice(0, 2).join(' ')}".`, hint)
}

/** Words of other programs for `waymark show`. */
const showVerbs = new Set(['show', 'view', 'get', 'info', 'describe'])

/** Verbs of other programs for one thing. */
const sameVerbs = [
  ['add', 'create', 'new', 'start', 'init'],
  ['complete', 'done', 'finish', 'close', 'end'],
  ['drop', 'remove', 'delete', 'rm', 'cancel', 'revoke', 'disable'],
  ['list', 'ls'],
  ['edit', 'update', 'set', 'rename'],
]

/** The command of a group for another program's verb, such as `task drop` for `task delete`. */
function sameVerb(group: string, verb: string, names: readonly string[]): string | undefined {
  const verbs = sameVerbs.find((all) => all.includes(verb)) ?? []
  return verbs.map((one) => `${group} ${one}`).find((command) => names.includes(command))
}

/** Names of commands in other programs or earlier versions. */
const otherNames = new Map([
  ['annotate', 'blame'],
  ['backup', 'backup create'],
  ['clean', 'prune'],
  ['gc', 'prune'],
  ['history', 'log'],
  ['holds', 'inbox'],
  ['install', 'init'],
  ['ls', 'status'],
  ['add', 'task add'],
  ['claim', 'task next --claim'],
  ['config', 'setting list'],
  ['complete', 'task complete'],
  ['done', 'task complete'],
  ['next', 'task next'],
  ['note', 'task note add'],
  ['start', 'task start'],
  ['statistics', 'stats'],
  ['tidy', 'prune'],
  ['users', 'person list'],
  ['version', '--version'],
])

/** The list command for a plural such as `missions`. */
function listOf(operations: readonly Operation[], word: string): string | undefined {
  const names = operations.map(({ command }) => command)
  const groups = [word.replace(/s$/, ''), word.replace(/es$/, '')].filter((group) => group !== word)
  return (
    [`list-${word}`, ...groups.map((group) => `${group} list`)].find((command) => names.includes(command)) ??
    groups.find((group) => commandGroup(operations, group).length > 0)
  )
}

/** The name of a tool, with or without its prefix: `start_task`, `start-task`, `task_list`, `get-state`. */
function commandOfTool(operations: readonly Operation[], word: string): string | undefined {
  const tool = word.replace(/-/g, '_')
  if (!tool.includes('_')) return undefined
  const names = [tool, `taskman_${tool}`, `state_gate_${tool}`]
  return operations.find(({ name }) => names.includes(name))?.command
}

/** Splits `task:start` into `task start`. */
function commandWordsOf(words: readonly string[]): readonly string[] {
  const [first = '', ...others] = words
  const until = others.findIndex((word) => word.startsWith('-'))
  return first.includes(':') ? first.split(':') : [first, ...(until === -1 ? others : others.slice(0, until))]
}

function isPrefix(command: readonly string[], spoken: readonly string[]): boolean {
  return command.every((word, at) => word === spoken[at])
}
