import { z } from 'zod'
import { Failure, type FieldName, type MissingKind } from '../../kernel/failure.ts'
import { formatHintCommands, withCommandHints as withCommands } from '../../kernel/operations/hints.ts'
import { inputSchema } from '../../kernel/operations/input/json-schema.ts'
import type { Operation } from '../../kernel/operations/operation.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'
import { flagsOf } from './flags.ts'
import { usageLine } from './help.ts'
import { withLocalTimes } from './render/text.ts'
import { complaint, refusalJson, type Terminal, withoutControlCodes } from './terminal.ts'

/** Prints `waymark: <sentence>` and the hint on stderr; with JSON also the failure on stdout. */
export function reportFailure(
  failure: Failure,
  { terminal, operations, json, project }: FailureReportContext,
): void {
  const hint = inProject(formatHintCommands(failure.hintParts, operations), { operations, project })
  const asRead = (text: string) => withLocalTimes(text, Date.now())
  terminal.writeError(
    withoutControlCodes(complaint(asRead(failure.message), `${differences(failure)}${asRead(hint)}`)),
  )
  if (json) terminal.write(refusalJson(withHint(withCommands(failure, operations), hint), terminal))
}

interface FailureReportContext {
  readonly terminal: Terminal
  readonly operations: readonly Operation[]
  readonly json: boolean
  /** The value of `--project`. */
  readonly project: string | undefined
}

/** Adds `--project` to the commands of a hint. */
function inProject(
  hint: string,
  { operations, project }: Pick<FailureReportContext, 'operations' | 'project'>,
): string {
  if (project === undefined) return hint
  const quotedProject = process.platform === 'win32' ? `"${project}"` : quoteShellWord(project)
  const commands = new Set(operations.map(({ command }) => command.split(' ')[0]))
  return hint.replace(/\bwaymark ([a-z][a-z-]*)\b/g, (whole, word: string) =>
    commands.has(word) ? `waymark --project ${quotedProject} ${word}` : whole,
  )
}

function withHint(failure: Failure, hint: string): Failure {
  const { code, message, reason, fix, details, missing } = failure
  return new Failure(code, message, {
    ...(reason !== null && { reason }),
    ...(failure.hint !== undefined && { hint }),
    ...(fix !== null && { fix }),
    ...(details && { details }),
    ...(missing && { missing }),
    cause: failure,
  })
}

/** The changes since a person's view, line by line if known. */
function differences({ details }: Failure): string {
  const { data } = changedSince.safeParse(details)
  return (data?.difference.files ?? [])
    .map(({ diff }) => diff)
    .join('')
    .slice(0, maxDifferenceLength)
}

const changedSince = z.object({ difference: z.object({ files: z.array(z.object({ diff: z.string() })) }) })

const maxDifferenceLength = 20_000

/** The command that lists a kind; agents get the tool instead. */
const listedBy: Readonly<Record<MissingKind, string>> = {
  mission: 'waymark mission list --status all shows every mission.',
  task: 'waymark task list shows the tasks; waymark status shows current work.',
  'mission or task':
    'waymark mission list --status all shows the missions; waymark task list shows the tasks.',
  attempt: 'waymark show <task> shows the attempts of a task.',
  run: 'waymark run list --status all shows every run.',
  'inbox item': 'waymark inbox shows the open items; with --closed, the closed ones.',
  phase: 'waymark phase list shows the phases; waymark phase add adds one.',
  milestone: 'waymark milestone list shows the milestones.',
}

/** An unknown id, with the command that lists valid ones. */
export function withoutMissingGuards(failure: Failure): Failure {
  const { code, message, reason, fix, details, missing } = failure
  if (missing === undefined) return failure
  return new Failure(code, message, {
    ...(reason !== null && { reason }),
    ...(fix !== null && { fix }),
    ...(details && { details }),
    hint: listedBy[missing],
    cause: failure,
  })
}

/** A failure of a program command, with commands instead of tools in its hint. */
export function toCommandLineFailure(failure: Failure, operations: readonly Operation[]): Failure {
  return withCommands(withoutMissingGuards(failure), operations)
}

/** An invalid input, described with the names of the command line. */
export function withFlagNames(failure: Failure, operation: Operation): Failure {
  const { sentence, reason, fix, details } = failure
  if (sentence === undefined) return failure
  const flags = flagsOf(inputSchema(operation))
  const isPositional = (field: string) => operation.positional?.includes(field) ?? false
  const flagOf = ({ field }: FieldName) => flags.find(({ path }) => path.join('.') === field)
  const words = sentence.map((part) => {
    if (typeof part === 'string') return part
    const flag = flagOf(part)
    if (flag === undefined) return `"${part.field}"`
    return isPositional(part.field) ? `<${flag.name}>` : `--${flag.name}`
  })
  const about = sentence.find((part) => typeof part !== 'string')
  const isBasic = about !== undefined && (isPositional(about.field) || flagOf(about)?.required === true)
  return new Failure('INVALID_INPUT', words.join(''), {
    ...(reason !== null && { reason }),
    ...(fix !== null && { fix }),
    ...(details && { details }),
    hint: `${isBasic ? `Usage: ${usageLine(operation)}\n` : ''}waymark ${operation.command} --help explains.`,
    cause: failure,
  })
}
