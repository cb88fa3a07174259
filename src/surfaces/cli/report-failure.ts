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

/** What lists the things of a kind, for a person: an agent is told the tool. */
const listedBy: Readonly<Record<string, string>> = {
  mission: 'waymark mission list --status all shows every mission.',
  task: 'waymark plan show and waymark task list show the tasks, waymark status what runs now.',
  'mission or task': 'waymark mission list --status all shows the missions, waymark task list the tasks.',
  attempt: 'waymark show <task> shows the attempts of a task.',
  run: 'waymark list-runs --status all shows every run.',
  hold: 'waymark inbox shows what waits for you; with --closed, what was answered.',
  phase: 'waymark phase list shows the phases; waymark phase add makes one.',
  milestone: 'waymark milestone list shows the milestones.',
}

/** An unknown id, with the command that shows the known ones. */
export function forPerson(failure: Failure): Failure {
  const [, kind = ''] = /^(\w+|mission or task) not found: /i.exec(failure.message) ?? []
  const hint = listedBy[kind.toLowerCase()]
  if (hint === undefined || !failure.code.endsWith('NOT_FOUND')) return failure
  return new Failure(failure.code, failure.message, { hint, cause: failure })
}

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
