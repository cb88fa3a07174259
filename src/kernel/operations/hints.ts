import { Failure, type Hint, isCall, type NextCall } from '../failure.ts'
import { isJsonObject } from '../json.ts'
import { quoteShellWord } from '../shell-word.ts'
import type { Operation } from './operation.ts'

/** A hint as a person reads it: a call of `start_task` is `waymark task start --planned-task-id t-1`. */
export function formatHintCommands(hint: Hint, operations: readonly Operation[]): string {
  return hint.map((part) => (isCall(part) ? commandOf(part, operations) : part)).join('')
}

function commandOf({ operation: name, input }: NextCall, operations: readonly Operation[]): string {
  const operation = operations.find((one) => one.name === name)
  const flags = Object.entries(input).flatMap(([field, value]) => flagOf(field, value))
  return ['waymark', operation?.command ?? name, ...flags].join(' ')
}

function flagOf(field: string, value: unknown): readonly string[] {
  const flag = `--${field.replaceAll('_', '-')}`
  if (value === true) return [flag]
  if (value === undefined) return [flag, '…']
  if (isJsonObject(value)) return [flag, quoteShellWord(JSON.stringify(value))]
  if (Array.isArray(value)) return value.flatMap((entry) => flagOf(field, entry))
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return [flag, quoteShellWord(text)]
}

/** The same refusal for a person: its hint names commands. */
export function withCommandHints(failure: Failure, operations: readonly Operation[]): Failure {
  const { code, message, reason, hint, hintParts, fix, details, missing } = failure
  return new Failure(code, message, {
    ...(reason !== null && { reason }),
    ...(hint !== undefined && { hint: formatHintCommands(hintParts, operations) }),
    ...(fix !== null && { fix }),
    ...(details && { details }),
    ...(missing && { missing }),
    cause: failure,
  })
}
