import type { z } from 'zod'
import { Failure, fieldName, type InputSentence, inputFailure, sentenceOf } from '../../failure.ts'
import { isJsonObject, parseJsonOrText } from '../../json.ts'
import { nearestWord } from '../../nearest-word.ts'
import { excerpt } from '../../text.ts'
import type { Operation } from '../operation.ts'
import { inputSchema, type JsonSchema } from './json-schema.ts'

/** Parses an input, tolerates common mistakes of agents, and reports all others at once. */
export function parseInput(operation: Operation, raw: unknown): Record<string, unknown> {
  const input = raw ?? {}
  if (typeof input !== 'object' || Array.isArray(input)) {
    throw new Failure(
      'INVALID_INPUT',
      `${operation.name} takes an object of named fields, not ${kindOf(input)}.`,
      { reason: 'input_not_an_object' },
    )
  }
  refuseMasses(operation, input)
  const adapted = adapt(replaceSynonyms(operation, input), inputSchema(operation))
  const parsed = operation.input.safeParse(adapted)
  if (parsed.success) {
    refuseImpossiblePaths(operation, parsed.data)
    return parsed.data
  }
  const fields = Object.keys(operation.input.shape)
  // Only a few are reported; explaining a hundred thousand takes long.
  const sentences = parsed.error.issues
    .slice(0, 100)
    .map((issue) => explainIssue(issue, adapted, operation.input))
  const unique = [...new Map(sentences.map((sentence) => [JSON.stringify(sentence), sentence])).values()]
  throw inputFailure(operation.name, joinSentences(unique.slice(0, 8)), {
    reason: 'input_invalid',
    ...(!hasFieldList(parsed.error.issues, fields) && {
      hint: `${operation.name} takes ${fields.length === 0 ? 'no fields' : fields.join(', ')}.`,
    }),
    details: { fields: parsed.error.issues.flatMap(fieldsOf).slice(0, 8) },
  })
}

function fieldsOf(issue: z.core.$ZodIssue): readonly string[] {
  const names = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 8) : []
  return (names.length === 0 ? [issue.path] : names.map((name) => [...issue.path, name])).map((path) =>
    path.join('.'),
  )
}

/** Refuses paths that no file system accepts, before a system call fails on them. */
function refuseImpossiblePaths({ name, paths = {} }: Operation, input: Record<string, unknown>): void {
  for (const field of Object.keys(paths)) {
    const value = input[field]
    for (const path of Array.isArray(value) ? value : [value]) {
      if (typeof path !== 'string') continue
      const maxPart = path.split(/[/\\]/).reduce((most, part) => Math.max(most, bytesOf(part)), 0)
      if (!path.includes('\0') && maxPart <= maxPartBytes && bytesOf(path) <= maxPathBytes) continue
      throw inputFailure(name, sentenceOf`${fieldName(field)} cannot be a path: ${valueExcerpt(path)}.`, {
        reason: 'path_invalid',
        hint: `A path has no NUL, at most ${maxPathBytes} bytes, and at most ${maxPartBytes} between two slashes.`,
        details: { fields: [field] },
      })
    }
  }
}

const encoder = new TextEncoder()

function bytesOf(text: string): number {
  return encoder.encode(text).length
}

const maxPathBytes = 4_000
const maxPartBytes = 255
const maxFields = 200
const maxEntries = 20_000

/** Refuses inputs larger than any operation takes; checking each entry would take long. */
function refuseMasses(operation: Operation, input: object): void {
  const fields = Object.keys(input).length
  if (fields > maxFields) {
    throw inputFailure(operation.name, sentenceOf`the input has ${fields} fields.`, {
      reason: 'too_many_fields',
      hint: `${operation.name} takes ${Object.keys(operation.input.shape).join(', ') || 'no fields'}.`,
    })
  }
  for (const [field, value] of Object.entries(input)) {
    if (!Array.isArray(value) || value.length <= maxEntries) continue
    const named = field.slice(0, 60)
    throw inputFailure(
      operation.name,
      sentenceOf`${fieldName(named)} has ${value.length} entries; at most ${maxEntries} are read.`,
      { reason: 'too_many_entries', details: { fields: [named] } },
    )
  }
}

/** Whether the message lists the fields already. */
function hasFieldList(issues: readonly z.core.$ZodIssue[], fields: readonly string[]): boolean {
  return issues.some(
    (issue) =>
      issue.code === 'unrecognized_keys' &&
      issue.path.length === 0 &&
      issue.keys.slice(0, maxNamedFields).some((key) => nearestWord(key, fields) === undefined),
  )
}

/** Renames fields of other programs to the operation's fields, in any spelling. */
function replaceSynonyms({ synonyms, input }: Operation, values: object): object {
  if (synonyms === undefined || Object.keys(values).every((key) => Object.hasOwn(input.shape, key)))
    return values
  const meanings = new Map(Object.entries(synonyms).map(([word, field]) => [plainKey(word), field]))
  const ownFields = new Set(Object.keys(input.shape).map(plainKey))
  const sentValues = new Map(Object.entries(values).map(([key, value]) => [plainKey(key), value]))
  const entries = Object.entries(values).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    const canonical = ownFields.has(plainKey(key)) ? undefined : meanings.get(plainKey(key))
    if (canonical === undefined) return [[key, value]]
    if (!sentValues.has(plainKey(canonical))) return [[canonical, value]]
    // Drop a synonym with the same value as its field; another value is refused as an unknown field.
    return sentValues.get(plainKey(canonical)) === value ? [] : [[key, value]]
  })
  return Object.fromEntries(entries)
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  return `a ${typeof value}`
}

/**
 * Converts unambiguous values to the form of the contract: null and an empty optional string are absent, `"3"` is a
 * number, `Success` is `success`, one string is a list (of choices: split at commas), `taskId` and `task-id` are `task_id`.
 * All other values stay unchanged, for the contract to refuse.
 */
function adapt(value: unknown, schema: JsonSchema): unknown {
  const types = typesOf(schema)
  if (types.includes('object')) return adaptRecord(value, schema)
  if (types.includes('array')) return adaptArray(value, schema)
  if (schema.enum && (typeof value === 'string' || typeof value === 'boolean')) {
    return adaptChoice(value, schema)
  }
  if (isNumeric(types) && typeof value === 'string') return adaptNumber(value)
  if (types.includes('boolean')) return adaptBoolean(value)
  if (types.includes('string') && typeof value === 'number') return String(value)
  return value
}

/** An object, also if it was sent as JSON text. */
function adaptRecord(value: unknown, schema: JsonSchema): unknown {
  const record =
    typeof value === 'string' && value.trimStart().startsWith('{') ? parseJsonOrText(value) : value
  return isJsonObject(record) ? adaptObject(record, schema) : value
}

function adaptObject(input: Record<string, unknown>, schema: JsonSchema): Record<string, unknown> {
  const required = new Set(schema.required)
  const adapted: Record<string, unknown> = {}
  for (const [sentKey, entry] of Object.entries(input)) {
    const key = matchingKey(sentKey, input, schema)
    const property = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined
    if (entry === null && schema.properties) continue
    if (entry === '' && property && !required.has(key)) continue
    const value = property ? adapt(entry, property) : entry
    if (key !== '__proto__') adapted[key] = value
    // Assigning to it would drop the key silently instead of having it refused.
    else Object.defineProperty(adapted, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return adapted
}

/** The field of a key in another spelling, if it is unambiguous. */
function matchingKey(key: string, value: Record<string, unknown>, { properties }: JsonSchema): string {
  if (properties === undefined || Object.hasOwn(properties, key)) return key
  const plain = plainKey(key)
  const matches = Object.keys(properties).filter((name) => plainKey(name) === plain)
  return matches.length === 1 && !Object.hasOwn(value, matches[0] ?? '') ? (matches[0] ?? key) : key
}

/** A field's name without separators and case: `taskId`, `task-id` and `task_id` are one. */
function plainKey(key: string): string {
  return key.replace(/[_-]/g, '').toLowerCase()
}

function adaptArray(value: unknown, schema: JsonSchema): unknown {
  const entries = typeof value === 'string' ? listFrom(value, schema.items) : value
  if (!Array.isArray(entries)) return value
  return schema.items ? entries.map((entry) => adapt(entry, schema.items ?? {})) : entries
}

/** A list sent as JSON text, a single entry without its list, or choices separated by commas. */
function listFrom(text: string, items?: JsonSchema): unknown {
  if (!text.trimStart().startsWith('[')) return items?.enum ? text.split(',') : [text]
  const parsed = parseJsonOrText(text)
  return parsed === text ? [text] : parsed
}

function adaptChoice(value: string | boolean, schema: JsonSchema): string | boolean {
  const choices = schema.enum ?? []
  if (choices.includes(value)) return value
  const plain = String(value)
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
  if (choices.includes(plain)) return plain
  const alias = Object.hasOwn(schema.aliases ?? {}, plain) ? schema.aliases?.[plain] : undefined
  return alias ?? value
}

function adaptNumber(value: string): unknown {
  const trimmed = value.trim()
  if (trimmed === '' || !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed)) return value
  return Number(trimmed)
}

function adaptBoolean(value: unknown): unknown {
  if (value === 'true' || value === 1 || value === '1' || value === 'yes') return true
  if (value === 'false' || value === 0 || value === '0' || value === 'no') return false
  return value
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema.type === undefined) return schema.enum ? ['string'] : []
  return typeof schema.type === 'string' ? [schema.type] : schema.type
}

function isNumeric(types: readonly string[]): boolean {
  return types.includes('number') || types.includes('integer')
}

type InputIssue = z.core.$ZodIssue

/** One sentence about one mistake, with the value and the fix. */
function explainIssue(issue: InputIssue, input: unknown, schema: z.ZodObject): InputSentence {
  const field = issue.path.length === 0 ? 'the input' : fieldName(...issue.path)
  const value = valueAt(input, issue.path)
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownFields(issue.keys, issue.path, schema)
    case 'invalid_value':
      if (value === undefined) return sentenceOf`${field} is missing: one of ${joinWithOr(issue.values)}.`
      return sentenceOf`${field} cannot be ${valueExcerpt(value)}: choose ${joinWithOr(issue.values)}.`
    case 'invalid_type':
      if (value === undefined) return sentenceOf`${field} is missing.`
      return sentenceOf`${field} must be ${article(issue.expected)}${expectedKeysText(issue, schema)}, not ${valueExcerpt(value)}.`
    case 'too_small':
      if (issue.origin === 'string') return sentenceOf`${field} must not be empty.`
      if (issue.origin === 'array') return sentenceOf`${field} needs at least ${issue.minimum} entries.`
      return sentenceOf`${field} must be at least ${issue.minimum}, not ${valueExcerpt(value)}.`
    case 'too_big':
      if (issue.origin === 'string') {
        return sentenceOf`${field} has ${String(value).length} characters; at most ${issue.maximum} are kept. Shorten it.`
      }
      if (issue.origin === 'array') return sentenceOf`${field} has more than ${issue.maximum} entries.`
      return sentenceOf`${field} must be at most ${issue.maximum}, not ${valueExcerpt(value)}.`
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return sentenceOf`${field} cannot be ${valueExcerpt(value)}: ${issue.message}.`
  }
}

/** The keys of an expected object, for a message. */
function expectedKeysText(issue: InputIssue, schema: z.ZodObject): string {
  const keys = issue.code === 'invalid_type' && issue.expected === 'object' ? keysAt(schema, issue.path) : []
  return keys.length === 0 ? '' : ` of ${keys.join(', ')}`
}

/** How many unknown fields a message names. */
const maxNamedFields = 5

/** Lists unknown fields, each with the probable one, and the allowed fields once. */
function unknownFields(
  keys: readonly string[],
  path: readonly PropertyKey[],
  schema: z.ZodObject,
): InputSentence {
  const declared = keysAt(schema, path)
  const unknownKeys = keys.slice(0, maxNamedFields).map((key) => {
    return { name: fieldName(...path, excerpt(key, 60)), meant: nearestWord(key, declared) }
  })
  const guessed = unknownKeys.flatMap(({ name, meant }) =>
    meant === undefined ? [] : [sentenceOf`Unknown field ${name}: did you mean ${fieldName(meant)}?`],
  )
  const unmatched = unknownKeys.flatMap(({ name, meant }) => (meant === undefined ? [[name]] : []))
  if (unmatched.length === 0) return joinSentences(guessed)
  const more = keys.length > unknownKeys.length ? ` and ${keys.length - unknownKeys.length} more` : ''
  const allowed = declared.length === 0 ? 'there are none here' : `the fields are ${declared.join(', ')}`
  const kind = unmatched.length > 1 ? 'fields' : 'field'
  const unknown = sentenceOf`Unknown ${kind} ${joinSentences(unmatched, ', ')}${more}: ${allowed}.`
  return joinSentences([...guessed, unknown])
}

function joinSentences(sentences: readonly InputSentence[], between = ' '): InputSentence {
  return sentences.flatMap((sentence, at) => (at === 0 ? sentence : [between, ...sentence]))
}

/** The keys of a nested object of the contract. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let here: unknown = schema
  for (const step of path) here = schemaAt(here, step)
  const shape = shapeOf(here)
  return shape ? Object.keys(shape) : []
}

function schemaAt(schema: unknown, step: PropertyKey): unknown {
  const bare = unwrapSchema(schema)
  if (typeof step === 'number') return (bare as { element?: unknown } | undefined)?.element // an array's schema
  return shapeOf(bare)?.[String(step)]
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  return (unwrapSchema(schema) as { shape?: Readonly<Record<string, unknown>> } | undefined)?.shape // an object's schema
}

function unwrapSchema(schema: unknown): unknown {
  const wrapper = schema as { unwrap?: () => unknown; shape?: unknown; element?: unknown } | undefined // optional()
  if (wrapper?.unwrap && wrapper.shape === undefined && wrapper.element === undefined)
    return unwrapSchema(wrapper.unwrap())
  return schema
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let here = input
  for (const step of path) here = (here as Record<PropertyKey, unknown> | null | undefined)?.[step] // any JSON value
  return here
}

function joinWithOr(values: readonly unknown[]): string {
  const words = values.map(String)
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

function article(expected: string): string {
  return /^[aeio]/.test(expected) ? `an ${expected}` : `a ${expected}`
}

/** A value for a message: JSON, shortened. */
function valueExcerpt(value: unknown): string {
  const text = JSON.stringify(clipValue(value, 3)) ?? String(value)
  return excerpt(text, 80)
}

/** Limits a value before it is converted to JSON; a message shows only 80 characters of it. */
function clipValue(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return value.slice(0, 100)
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return Array.isArray(value) ? ['…'] : { '…': 1 }
  if (Array.isArray(value)) return value.slice(0, 50).map((entry) => clipValue(entry, levels - 1))
  const entries: [string, unknown][] = []
  for (const key in value) {
    if (entries.length >= 30) break
    if (Object.hasOwn(value, key))
      entries.push([key.slice(0, 100), clipValue(Reflect.get(value, key), levels - 1)])
  }
  return Object.fromEntries(entries)
}
