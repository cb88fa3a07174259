import type { Operation } from '../../../operations/operation.ts'
import { generalFlags } from '../arguments/general-flags.ts'
import type { Terminal } from '../terminal.ts'
import { twoColumns } from '../text/columns.ts'
import { flagRow } from './command-help.ts'
import { otherCommands } from './other-commands.ts'

/** What `waymark --help` says: every command with its title. */
export function usage(operations: readonly Operation[], terminal: Terminal): string {
  const { ink, width } = terminal
  const list = (entries: readonly { readonly command: string; readonly title: string }[]) =>
    twoColumns(
      entries.map(({ command, title }) => [command, title]),
      { width },
    )
  return [
    'Waymark plans, tracks and gates the work of coding agents, with git as the witness.',
    '',
    `${ink('bold', 'Usage:')} waymark <command> [values] [--flags]`,
    '',
    ink('bold', 'For people'),
    list(operations.filter(({ tool }) => tool === undefined)),
    '',
    ink('bold', 'For agents and scripts'),
    list(operations.filter(({ tool }) => tool !== undefined)),
    '',
    ink('bold', 'The program'),
    list(otherCommands),
    '',
    ink('bold', 'Flags of every command'),
    twoColumns([...generalFlags.map(flagRow), ['-v, --version', 'The version']], { width }),
    '',
    'waymark <command> --help explains one. A command may also be written with colons: task:start.',
    '',
  ].join('\n')
}

/** What a group such as `waymark task` says. */
export function groupUsage(word: string, group: readonly Operation[], { width }: Terminal): string {
  const rows = group.map(({ command, title }) => [command, title] as const)
  return `Commands of ${word}:\n${twoColumns(rows, { width })}\n`
}
