import { Failure } from '../../domain/failure.ts'
import { inputSchema } from '../../operations/input/json-schema.ts'
import type { Operation } from '../../operations/operation.ts'
import { flagsOf } from './arguments/flag.ts'
import type { Terminal } from './terminal.ts'
import { inCommands, inFlags } from './text/command-words.ts'
import { printable } from './text/printable.ts'
import { entriesAt, entryAt, textAt } from './views/entry.ts'

/** `waymark: <sentence>` on stderr, and the way on in the next line. */
export function reportFailure(failure: Failure, terminal: Terminal, operations: readonly Operation[]): void {
  const hint = failure.hint === undefined ? '' : `${inCommands(failure.hint, operations)}\n`
  terminal.writeError(printable(`waymark: ${failure.message}\n${differences(failure)}${hint}`))
}

/** What is another now than what a person saw, line by line where that is known. */
function differences({ details }: Failure): string {
  const difference = entryAt(details ?? {}, 'difference')
  if (difference === null) return ''
  const patches = entriesAt(difference, 'files').map((file) => textAt(file, 'diff'))
  return patches.join('').slice(0, longestDifference)
}

const longestDifference = 20_000

/** An input that the contract refuses, told in the words of the command line. */
export function inCommandWords(failure: Failure, operation: Operation): Failure {
  const intro = `${operation.name}: `
  if (failure.code !== 'INVALID_INPUT' || !failure.message.startsWith(intro)) return failure
  const names = new Map(flagsOf(inputSchema(operation)).map(({ path, name }) => [path.join('.'), name]))
  return new Failure('INVALID_INPUT', inFlags(failure.message.slice(intro.length), names), {
    hint: `waymark ${operation.command} --help explains.`,
    cause: failure,
  })
}
