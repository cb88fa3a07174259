import { inputSchema } from '../../kernel/operations/input/json-schema.ts'
import type { Operation } from '../../kernel/operations/operation.ts'
import { type Flag, flagsOf, generalFlags, toKebabCase } from './flags.ts'
import { type OtherCommand, otherCommands } from './other-commands.ts'
import { twoColumns } from './render/table.ts'
import type { Terminal } from './terminal.ts'

/** What a person wants, and the commands for it. At most thirty in all: the rest is in `waymark help all`. */
const wanted: readonly (readonly [string, readonly string[]])[] = [
  ['Begin', ['init', 'setup', 'doctor', 'demo']],
  ['See where things stand', ['status', 'top', 'show', 'changes', 'diff', 'log']],
  ['See what agents did without being asked to record it', ['sessions', 'capture']],
  ['Answer what waits for you', ['inbox', 'review', 'approve', 'reject', 'resolve']],
  ['See why a line is there', ['blame', 'why']],
  ['Plan', ['import', 'plan show', 'task add', 'task next']],
  ['Record work', ['mission start', 'task start', 'task complete']],
  ['Gate work by a process', ['process list', 'get-state']],
  ['Run', ['serve', 'mcp']],
]

type HelpEntry = { readonly command: string; readonly title: string }

/** What `waymark --help` says. */
export function usage(operations: readonly Operation[], terminal: Terminal): string {
  const { ink, width } = terminal
  const known: readonly HelpEntry[] = [...otherCommands.filter(({ joins }) => !joins), ...operations]
  const groups = wanted.flatMap(([heading, commands]) => [
    ink('bold', heading),
    list(
      commands.flatMap((command) => known.find((entry) => entry.command === command) ?? []),
      terminal,
    ),
    '',
  ])
  return [
    'Waymark plans, tracks and gates the work of coding agents, with git as the witness.',
    '',
    `${ink('bold', 'Usage:')} waymark <command> [values] [--flags]`,
    '',
    ...groups,
    ink('bold', 'Flags of most commands'),
    twoColumns([...generalFlags.map(flagRow), ['-v, --version', 'The version']], { width }),
    '',
    'waymark help all lists every command, waymark task the task commands; waymark <command> --help explains one.',
    'A command may also be written with colons: task:start.',
    '',
  ].join('\n')
}

/** What `waymark help all` says: every command with its title. */
export function everyCommand(operations: readonly Operation[], terminal: Terminal): string {
  const { ink } = terminal
  const others = otherCommands.filter(({ joins }) => !joins)
  // One line for each command: its own help tells of the other meaning.
  const named = new Set(others.map(({ command }) => command))
  return [
    ink('bold', 'For people'),
    list(
      operations.filter(({ tool, command }) => tool === undefined && !named.has(command)),
      terminal,
    ),
    '',
    ink('bold', 'For agents and scripts'),
    list(
      operations.filter(({ tool, command }) => tool !== undefined && !named.has(command)),
      terminal,
    ),
    '',
    ink('bold', 'The program'),
    list(others, terminal),
    '',
  ].join('\n')
}

function list(entries: readonly HelpEntry[], { width }: Terminal): string {
  return twoColumns(
    entries.map(({ command, title }) => [command, title]),
    { width },
  )
}

/** What a group such as `waymark task` says. */
export function groupUsage(word: string, group: readonly Operation[], { width }: Terminal): string {
  const rows = group.map(({ command, title }) => [command, title] as const)
  return `Commands of ${word}:\n${twoColumns(rows, { width })}\n`
}

/** What `waymark <command> --help` says, derived from the contract, with what the program adds to it. */
export function commandHelp(
  operation: Operation,
  { ink, width }: Terminal,
  { operations, added }: { readonly operations: readonly Operation[]; readonly added?: OtherCommand },
): string {
  const flags = flagsOf(inputSchema(operation))
  // An operation's own --format says what it does there.
  const general = generalFlags.filter(({ name }) => !flags.some((flag) => flag.name === name))
  // A flag that does something else is an operation of its own: `doctor --repair`.
  const others = operations
    .filter(({ command }) => command.startsWith(`${operation.command} --`))
    .map(({ command, title }) => [command.slice(operation.command.length + 1), title] as const)
  const rows = [...flags.map(flagRow), ...others, ...(added?.explained ?? [])]
  return [
    `${ink('bold', `waymark ${operation.command}`)}: ${operation.title}`,
    operation.description,
    ...(added ? [`${added.title}.`] : []),
    ...(operation.audience === 'person' ? ['Only people may do this, not agents.'] : []),
    '',
    `${ink('bold', 'Usage:')} ${usageLine(operation)}`,
    '',
    ...(rows.length === 0 ? [] : [ink('bold', 'Flags'), twoColumns(rows, { width }), '']),
    ink('bold', 'Flags of every command'),
    twoColumns(general.map(flagRow), { width }),
    '',
    ink('bold', 'Example'),
    `  ${exampleOf(operation, flags)}`,
    '',
  ].join('\n')
}

/** `waymark blame <file> [--flags]` */
export function usageLine(operation: Operation): string {
  const required = flagsOf(inputSchema(operation)).filter((flag) => flag.required && flag.path.length === 1)
  const places = (operation.positional ?? []).map((name) => positionalText(name, required))
  return ['waymark', operation.command, ...places, '[--flags]'].join(' ')
}

/** A flag with what it takes, and what it is for. */
function flagRow(flag: Flag): readonly [string, string] {
  const text = flag.choices.length > 0 ? ' <choice>' : ' <text>'
  const value = { nothing: '', text, number: ' <number>', json: ' <json>' }[flag.takes]
  const choices = flag.choices.length > 0 && !hasAllChoices(flag) ? ` (${flag.choices.join(', ')})` : ''
  const more = [
    flag.required ? (flag.path.length === 1 ? 'Required.' : 'Required with its object.') : '',
    flag.many ? 'May be repeated.' : '',
  ].filter((part) => part !== '')
  const said = `${flag.description}${choices}`.trim()
  const end = more.length === 0 || said === '' || /[.!?]$/.test(said) ? '' : '.'
  return [`--${flag.name}${value}`, [`${said}${end}`, ...more].join(' ').trim()]
}

function hasAllChoices({ description, choices }: Flag): boolean {
  return choices.every((choice) => description.includes(choice))
}

function positionalText(name: string, required: readonly Flag[]): string {
  const needed = required.some(({ path }) => path[0] === name)
  return needed ? `<${toKebabCase(name)}>` : `[${toKebabCase(name)}]`
}

/** A command line with every required field, in the words of the contract where it gives an example. */
export function exampleOf(operation: Operation, flags: readonly Flag[]): string {
  const places = operation.positional ?? []
  const byPlace = places.flatMap((name) => flags.filter(({ path }) => path.length === 1 && path[0] === name))
  const positionals = byPlace.filter((flag, at) => flag.required || at === 0 || hasExample(flag))
  const named = flags.filter((flag) => isNeeded(flag, flags) && !positionals.includes(flag))
  return [
    'waymark',
    operation.command,
    ...positionals.map(exampleValue),
    ...named.map((flag) =>
      flag.takes === 'nothing' ? `--${flag.name}` : `--${flag.name} ${exampleValue(flag)}`,
    ),
  ].join(' ')
}

function hasExample({ description }: Flag): boolean {
  return description.includes('e.g., ')
}

/** Required, and not an object that its own fields spell out. */
function isNeeded(flag: Flag, flags: readonly Flag[]): boolean {
  if (!flag.required) return false
  const parents = flag.path.slice(0, -1)
  const parent = flags.find(({ path }) => path.length > 0 && path.join('.') === parents.join('.'))
  const spelledOut = flags.some(
    ({ path, required }) => required && path.length > flag.path.length && path[0] === flag.path[0],
  )
  return !spelledOut && (parents.length === 0 || parent?.required === true)
}

function exampleValue(flag: Flag): string {
  if (flag.choices[0] !== undefined) return flag.choices[0]
  if (flag.takes === 'number') return '1'
  if (flag.takes === 'json') return `'{…}'`
  const name = flag.path.at(-1) ?? ''
  const prefix = /\(([a-z]+)-…/.exec(flag.description)?.[1] ?? idLetter[name.replace(/-/g, '_')]
  if (prefix !== undefined) return `${prefix}-4k2m9x7c0vqa`
  const quoted = /e\.g\., \[?'([^']*)'/.exec(flag.description)?.[1]
  return `"${quoted ?? '…'}"`
}

const idLetter: Readonly<Record<string, string>> = {
  mission_id: 'm',
  task_id: 't',
  dep_id: 't',
  attempt_id: 'a',
}
