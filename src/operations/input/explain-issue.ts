import type { z } from 'zod'
import { nearest } from '../../domain/nearest-word.ts'
import { shown } from './shown.ts'

type Issue = z.core.$ZodIssue

/** One sentence about one mistake, with the value in it and the way on. */
export function explainIssue(issue: Issue, input: unknown, schema: z.ZodObject): string {
  const field = issue.path.length === 0 ? 'the input' : `"${issue.path.map(String).join('.')}"`
  const value = valueAt(input, issue.path)
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownFields(issue.keys, issue.path, schema)
    case 'invalid_value':
      if (value === undefined) return `${field} is missing: one of ${listed(issue.values)}.`
      return `${field} cannot be ${shown(value)}: choose ${listed(issue.values)}.`
    case 'invalid_type':
      if (value === undefined) return `${field} is missing.`
      return `${field} must be ${article(issue.expected)}${holding(issue, schema)}, not ${shown(value)}.`
    case 'too_small':
      if (issue.origin === 'string') return `${field} must not be empty.`
      if (issue.origin === 'array') return `${field} needs at least ${issue.minimum} entries.`
      return `${field} must be at least ${issue.minimum}, not ${shown(value)}.`
    case 'too_big':
      if (issue.origin === 'string') {
        return `${field} has ${String(value).length} characters; at most ${issue.maximum} are kept. Shorten it.`
      }
      if (issue.origin === 'array') return `${field} has more than ${issue.maximum} entries.`
      return `${field} must be at most ${issue.maximum}, not ${shown(value)}.`
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return `${field} cannot be ${shown(value)}: ${issue.message}.`
  }
}

/** What an object is made of, for who sent something else. */
function holding(issue: Issue, schema: z.ZodObject): string {
  const keys = issue.code === 'invalid_type' && issue.expected === 'object' ? keysAt(schema, issue.path) : []
  return keys.length === 0 ? '' : ` of ${keys.join(', ')}`
}

/** How many unknown fields are told. */
const mostFields = 5

/** The fields that are not known, each with the one that was probably meant; what there is is told once. */
function unknownFields(keys: readonly string[], path: readonly PropertyKey[], schema: z.ZodObject): string {
  const known = keysAt(schema, path)
  const told = keys.slice(0, mostFields).map((key) => {
    const name = [...path.map(String), key.length > 60 ? `${key.slice(0, 60)}…` : key].join('.')
    return { name: `"${name}"`, meant: nearest(key, known) }
  })
  const guessed = told.flatMap(({ name, meant }) =>
    meant === undefined ? [] : [`Unknown field ${name}: did you mean "${meant}"?`],
  )
  const others = told.flatMap(({ name, meant }) => (meant === undefined ? [name] : []))
  if (others.length === 0) return guessed.join(' ')
  const more = keys.length > told.length ? ` and ${keys.length - told.length} more` : ''
  const fields = known.length === 0 ? 'there are none here' : `the fields are ${known.join(', ')}`
  const unknown = `Unknown field${others.length > 1 ? 's' : ''} ${others.join(', ')}${more}: ${fields}.`
  return [...guessed, unknown].join(' ')
}

/** The keys that a nested object of the contract knows. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let here: unknown = schema
  for (const step of path) here = inside(here, step)
  const shape = shapeOf(here)
  return shape ? Object.keys(shape) : []
}

function inside(schema: unknown, step: PropertyKey): unknown {
  const bare = unwrapped(schema)
  if (typeof step === 'number') return (bare as { element?: unknown } | undefined)?.element // an array's schema
  return shapeOf(bare)?.[String(step)]
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  return (unwrapped(schema) as { shape?: Readonly<Record<string, unknown>> } | undefined)?.shape // an object's schema
}

function unwrapped(schema: unknown): unknown {
  const wrapper = schema as { unwrap?: () => unknown; shape?: unknown; element?: unknown } | undefined // optional()
  if (wrapper?.unwrap && wrapper.shape === undefined && wrapper.element === undefined)
    return unwrapped(wrapper.unwrap())
  return schema
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let here = input
  for (const step of path) here = (here as Record<PropertyKey, unknown> | null | undefined)?.[step] // any JSON value
  return here
}

function listed(values: readonly unknown[]): string {
  const words = values.map(String)
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

function article(expected: string): string {
  return /^[aeio]/.test(expected) ? `an ${expected}` : `a ${expected}`
}
