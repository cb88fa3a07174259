import { Failure } from '../../../domain/failure.ts'
import type { Flag } from './flag.ts'
import type { Given } from './read-arguments.ts'
import { usageFailure } from './usage-failure.ts'

type Nested = { [key: string]: unknown }

/** The operation's input from what was given: repeated flags become lists, dotted ones objects. */
export function inputFrom(given: readonly Given[]): Readonly<Record<string, unknown>> {
  const input: Nested = {}
  const flags = new Set(given.map(({ flag }) => flag))
  // Whole objects first, so that `--outcome '{…}' --outcome.summary "…"` completes the one with the other.
  for (const flag of [...flags].sort((a, b) => a.path.length - b.path.length)) {
    const values = given.filter((entry) => entry.flag === flag).map(({ value }) => value)
    setAt(input, flag.path, valueFrom(flag, values))
  }
  return input
}

function valueFrom(flag: Flag, values: readonly string[]): unknown {
  const [first = ''] = values
  if (!flag.many && values.length > 1) {
    throw usageFailure(
      `--${flag.name} was given ${values.length} times; it takes one value.`,
      'Give it once.',
    )
  }
  if (flag.takes !== 'json') return flag.many && values.length > 1 ? values : first
  const parsed = values.map((value) => parsedJson(flag, value))
  if (!flag.many) return parsed[0]
  return parsed.length === 1 && Array.isArray(parsed[0]) ? parsed[0] : parsed
}

function parsedJson(flag: Flag, value: string): unknown {
  try {
    return JSON.parse(value)
  } catch (cause) {
    throw new Failure('INVALID_INPUT', `--${flag.name} takes JSON, and this is none: ${cut(value)}`, {
      hint: `Such as --${flag.name} '{"key": "value"}'${flag.path.length === 1 ? ', or its fields one by one where it has any' : ''}.`,
      cause,
    })
  }
}

function setAt(input: Nested, path: readonly string[], value: unknown): void {
  const [key = '', ...deeper] = path
  if (deeper.length === 0) {
    input[key] = value
    return
  }
  const inner = isNested(input[key]) ? input[key] : {}
  input[key] = inner
  setAt(inner, deeper, value)
}

function isNested(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function cut(value: string): string {
  return value.length <= 60 ? value : `${value.slice(0, 59)}…`
}
