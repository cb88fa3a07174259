import { inputSchema } from '../../../operations/input/json-schema.ts'
import type { Operation } from '../../../operations/operation.ts'
import { type Flag, flagsOf, kebab } from '../arguments/flag.ts'
import { generalFlags } from '../arguments/general-flags.ts'
import type { Terminal } from '../terminal.ts'
import { twoColumns } from '../text/columns.ts'
import { exampleOf } from './example.ts'

/** What `waymark <command> --help` says, derived from the contract. */
export function commandHelp(operation: Operation, { ink, width }: Terminal): string {
  const flags = flagsOf(inputSchema(operation))
  // An operation's own --format says what it does there.
  const general = generalFlags.filter(({ name }) => !flags.some((flag) => flag.name === name))
  const required = flags.filter((flag) => flag.required && flag.path.length === 1)
  const places = (operation.positional ?? []).map((name) => place(name, required))
  return [
    `${ink('bold', `waymark ${operation.command}`)}: ${operation.title}`,
    operation.description,
    ...(operation.audience === 'person' ? ['Only people may do this, not agents.'] : []),
    '',
    `${ink('bold', 'Usage:')} ${['waymark', operation.command, ...places, '[--flags]'].join(' ')}`,
    '',
    ...(flags.length === 0 ? [] : [ink('bold', 'Flags'), twoColumns(flags.map(flagRow), { width }), '']),
    ink('bold', 'Flags of every command'),
    twoColumns(general.map(flagRow), { width }),
    '',
    ink('bold', 'Example'),
    `  ${exampleOf(operation, flags)}`,
    '',
  ].join('\n')
}

/** A flag with what it takes, and what it is for. */
export function flagRow(flag: Flag): readonly [string, string] {
  const text = flag.choices.length > 0 ? ' <choice>' : ' <text>'
  const value = { nothing: '', text, number: ' <number>', json: ' <json>' }[flag.takes]
  const more = [
    flag.description,
    flag.choices.length > 0 && !mentions(flag) ? `(${flag.choices.join(', ')})` : '',
    flag.required ? (flag.path.length === 1 ? 'Required.' : 'Required with its object.') : '',
    flag.many ? 'May be repeated.' : '',
  ]
  return [`--${flag.name}${value}`, more.filter((part) => part !== '').join(' ')]
}

function mentions({ description, choices }: Flag): boolean {
  return choices.every((choice) => description.includes(choice))
}

function place(name: string, required: readonly Flag[]): string {
  const needed = required.some(({ path }) => path[0] === name)
  return needed ? `<${kebab(name)}>` : `[${kebab(name)}]`
}
