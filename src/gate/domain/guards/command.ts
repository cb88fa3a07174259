import { instant } from '../../../kernel/instant.ts'
import type { ObservedCommand } from '../evidence.ts'
import { type GuardKind, type GuardResult, satisfiedGuard, unknownGuard, unsatisfiedGuard } from './guard.ts'

export interface CommandGuard {
  readonly type: 'command'
  /** A command line, run by the server in the project. */
  readonly run: string
  /** Milliseconds. */
  readonly timeout: number
  /** Files whose change requires a new approval of the command. */
  readonly pinned: readonly string[]
  /** The required exit; absent in older definitions: `zero`. */
  readonly exit?: 'zero' | 'nonzero'
  /** Only results of a runner count; absent if any result counts. */
  readonly reportedBy?: 'runner'
}

/** A command that Waymark itself ran on the current tree. Unknown until it ended. */
export const command: GuardKind<CommandGuard> = {
  needs: ({ run, timeout }) => [{ kind: 'command', run, timeout }],
  evaluate: (guard, { observed }) => {
    const { run, reportedBy } = guard
    const result = observed.commands.find((event) => event.run === run && event.reportedBy === reportedBy)
    if (reportedBy === 'runner' && (!result || result.status === 'not_run')) {
      return unknownGuard(
        `no runner has run "${run}"`,
        'Send the event from a machine with a token of kind runner: waymark token create --kind runner',
      )
    }
    if (!result || result.status === 'not_run')
      return unknownGuard(`"${run}" has not run`, 'Emit the event: the server runs the command.')
    if (result.status === 'unapproved') {
      return unknownGuard(
        `"${run}" needs a person's approval`,
        'Emit the event: then a person can approve the command, in the inbox (waymark inbox).',
      )
    }
    if (result.status === 'refused') {
      const {
        author,
        reason: refusalReason,
        hash,
      } = result.refusal ?? { author: 'a person', reason: '', hash: '' }
      // The text is used inside a sentence, which adds the full stop.
      const reason = refusalReason.replace(/(?<![\s.])[\s.]+$/, '')
      return unknownGuard(
        `${author} refused to let "${run}" run${reason === '' ? '' : `: ${reason}`}`,
        `Waymark asks again if the command or a pinned file changes, or after waymark command revoke ${hash.slice(0, 16)}.`,
      )
    }
    if (result.status === 'running') {
      const since = result.startedAt === null ? '' : ` since ${instant(result.startedAt)}`
      return unknownGuard(`"${run}" is running${since}`, 'Ask again when it has ended.')
    }
    if (result.disturbed) {
      return unknownGuard(
        `files changed while "${run}" ran`,
        `Change no files until it has ended. The command itself may only write files that git ignores. Then emit the event again${lastLines(result.output)}`,
      )
    }
    if (!result.onThisTree) {
      return unknownGuard(
        `files changed since "${run}" ran`,
        reportedBy === 'runner'
          ? 'Let the runner run it on the tree as it is.'
          : 'Emit the event: the server runs it again.',
      )
    }
    if (result.status === 'timed_out') {
      return unknownGuard(
        `"${run}" took too long`,
        `Make it faster, or raise its timeout${lastLines(result.output)}`,
      )
    }
    return guardResultOf(guard, result)
  },
}

/** Exit codes of the shell if it did not find or could not start a command: no result about the tree. */
const notStarted: readonly number[] = [126, 127]

/** Whether a finished command passed its guard; one that could not be started did not. */
export function hasExpectedExit(
  { exit }: Pick<CommandGuard, 'exit'>,
  { status, exitCode }: { readonly status: string; readonly exitCode: number | null },
): boolean {
  if (status === 'passed') return exit !== 'nonzero'
  return status === 'failed' && exit === 'nonzero' && exitCode !== null && !notStarted.includes(exitCode)
}

function guardResultOf(
  { run, exit }: CommandGuard,
  { status, exitCode, output }: ObservedCommand,
): GuardResult {
  if (status === 'passed') {
    if (exit !== 'nonzero') return satisfiedGuard(`"${run}" passed on this tree`)
    return unsatisfiedGuard(
      `"${run}" passed on this tree, but must fail`,
      'First show what is wrong, for example with a failing test.',
    )
  }
  if (exitCode === null || notStarted.includes(exitCode)) {
    const how = exitCode === null ? 'was ended by a signal' : `could not be started (exit code ${exitCode})`
    return unknownGuard(`"${run}" ${how}`, `Make sure that it can run${lastLines(output)}`)
  }
  if (exit === 'nonzero') return satisfiedGuard(`"${run}" failed on this tree with exit code ${exitCode}`)
  return unsatisfiedGuard(
    `"${run}" failed with exit code ${exitCode}`,
    `Fix what it reports${lastLines(output)}`,
  )
}

const maxLines = 15
const maxCharacters = 1200

/** The end of an output as the end of a sentence. */
function lastLines(output: string): string {
  const lines = output.trimEnd().split('\n').slice(-maxLines).join('\n')
  return lines === '' ? '.' : `:\n${lines.slice(-maxCharacters)}`
}
