import type { Operation } from '../../../operations/operation.ts'
import { generalFlags } from '../arguments/general-flags.ts'
import type { Terminal } from '../terminal.ts'
import { twoColumns } from '../text/columns.ts'
import { flagRow } from './command-help.ts'
import { otherCommands } from './other-commands.ts'

/** What a person wants, and the commands for it. At most thirty in all: the rest is in `waymark help all`. */
const wanted: readonly (readonly [string, readonly string[]])[] = [
  ['See where things stand', ['status', 'board', 'show', 'changes', 'diff', 'log']],
  ['Answer what waits for you', ['inbox', 'approve', 'reject', 'resolve']],
  ['Plan', ['import', 'plan show', 'plan graph', 'task add', 'task list', 'task next', 'task drop']],
  ['Record work', ['mission start', 'mission list', 'task start', 'task complete']],
  ['Gate work by a process', ['process list', 'process lint', 'create-run', 'get-state']],
  ['Run and connect', ['serve', 'mcp', 'demo play', 'doctor', 'setting list']],
]

type Entry = { readonly command: string; readonly title: string }

/** What `waymark --help` says. */
export function usage(operations: readonly Operation[], terminal: Terminal): string {
  const { ink, width } = terminal
  const known: readonly Entry[] = [...operations, ...otherCommands]
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
    ink('bold', 'Flags of every command'),
    twoColumns([...generalFlags.map(flagRow), ['-v, --version', 'The version']], { width }),
    '',
    'waymark help all lists every command, waymark task those of tasks, waymark <command> --help explains one.',
    'A command may also be written with colons: task:start.',
    '',
  ].join('\n')
}

/** What `waymark help all` says: every command with its title. */
export function everyCommand(operations: readonly Operation[], terminal: Terminal): string {
  const { ink } = terminal
  return [
    ink('bold', 'For people'),
    list(
      operations.filter(({ tool }) => tool === undefined),
      terminal,
    ),
    '',
    ink('bold', 'For agents and scripts'),
    list(
      operations.filter(({ tool }) => tool !== undefined),
      terminal,
    ),
    '',
    ink('bold', 'The program'),
    list(otherCommands, terminal),
    '',
  ].join('\n')
}

function list(entries: readonly Entry[], { width }: Terminal): string {
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
