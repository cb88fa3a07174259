import { inputSchema } from '../../../operations/input/json-schema.ts'
import type { Operation } from '../../../operations/operation.ts'
import type { Store } from '../../../ports/store.ts'
import { idsLike } from '../arguments/expand-ids.ts'
import { findCommand } from '../arguments/find-command.ts'
import { flagsOf } from '../arguments/flag.ts'
import { generalFlags } from '../arguments/general-flags.ts'
import { otherCommands } from '../help/other-commands.ts'

/** What may stand in the place of the last word. */
export async function candidates(
  words: readonly string[],
  operations: readonly Operation[],
  store: Store,
): Promise<readonly string[]> {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const found = findCommand(operations, before)
  if (!found) {
    const other = otherCommands.find(({ command }) => command === before[0])
    const next = other?.words ?? commandWords(before, operations)
    return next.filter((word) => word.startsWith(typed))
  }
  const flags = [...flagsOf(inputSchema(found.operation)), ...generalFlags]
  const last = flags.find(({ name }) => before.at(-1) === `--${name}`)
  if (last && last.choices.length > 0) return last.choices.filter((choice) => choice.startsWith(typed))
  if (typed.startsWith('-'))
    return flags.map(({ name }) => `--${name}`).filter((flag) => flag.startsWith(typed))
  return /^[a-z]-/.test(typed) ? idsLike(store, typed) : []
}

/** The next words of the commands that begin with the words before. */
function commandWords(before: readonly string[], operations: readonly Operation[]): readonly string[] {
  const all = [...operations, ...otherCommands].map(({ command }) => command.split(' '))
  const fitting = all.filter((command) => before.every((word, at) => command[at] === word))
  return [...new Set(fitting.flatMap((command) => command.slice(before.length, before.length + 1)))]
}
