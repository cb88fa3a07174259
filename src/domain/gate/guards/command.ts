import { instant } from '../../instant.ts'
import { type GuardKind, satisfied, unsatisfied } from './guard.ts'

export interface CommandGuard {
  readonly type: 'command'
  /** A command line, run by the server in the project. */
  readonly run: string
  /** Milliseconds. */
  readonly timeout: number
  /** Files whose change asks for a new approval of the command. */
  readonly pinned: readonly string[]
}

/** A command that the server itself ran on the tree as it is. */
export const command: GuardKind<CommandGuard> = {
  needs: ({ run, timeout }) => [{ kind: 'command', run, timeout }],
  evaluate: ({ run }, { facts }) => {
    const result = facts.commands.find((fact) => fact.run === run)
    if (!result || result.status === 'not_run')
      return unsatisfied(`"${run}" has not run`, 'Emit the event: the server runs the command.')
    if (result.status === 'unapproved') {
      return unsatisfied(
        `"${run}" waits for a person's approval`,
        'Ask a person to approve it: waymark inbox.',
      )
    }
    if (result.status === 'running') {
      const since = result.startedAt === null ? '' : ` since ${instant(result.startedAt)}`
      return unsatisfied(`"${run}" is running${since}`, 'Ask again when it has ended.')
    }
    if (!result.onThisTree) {
      return unsatisfied(`files changed since "${run}" ran`, 'Emit the event: the server runs it again.')
    }
    switch (result.status) {
      case 'passed':
        return satisfied(`"${run}" passed on this tree`)
      case 'timed_out':
        return unsatisfied(
          `"${run}" took too long`,
          `Make it faster, or raise its timeout${lastLines(result.output)}`,
        )
      case 'failed':
        return unsatisfied(
          `"${run}" failed with exit code ${result.exitCode ?? 'unknown'}`,
          `Mend what it reports${lastLines(result.output)}`,
        )
    }
  },
}

const mostLines = 15
const mostCharacters = 1200

/** The end of an output as the end of a sentence. */
function lastLines(output: string): string {
  const lines = output.trimEnd().split('\n').slice(-mostLines).join('\n')
  return lines === '' ? '.' : `:\n${lines.slice(-mostCharacters)}`
}
