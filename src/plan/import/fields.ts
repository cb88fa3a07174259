import { z } from 'zod'
import { messageOf } from '../../kernel/failure.ts'
import { isDay } from '../../kernel/instant.ts'
import { isJsonObject } from '../../kernel/json.ts'
import { deepestNesting, outlineOf } from '../../kernel/json-outline.ts'
import { excerpt } from '../../kernel/text.ts'

// Field types of a plan. Null counts as absent.

function expectedMessage(kind: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) => `expected ${kind}, found ${foundValueText(input)}`,
  }
}

/** Numbers are accepted as texts. */
export const foreignText = z.union([z.string(), z.number().transform(String)], expectedMessage('a text'))
export const number = optionalField(z.number(expectedMessage('a number')))
export const flag = z
  .boolean(expectedMessage('true or false'))
  .nullish()
  .transform((value) => value ?? false)

/** ISO 8601. */
export const foreignInstant = optionalField(
  foreignText
    .refine(
      (written) => instantOfText(written) !== null,
      expectedMessage('a time such as 2026-01-31T09:30:00Z'),
    )
    .transform((written) => instantOfText(written)),
)

export const maybeText = optionalField(foreignText)
export const foreignTexts = listOf(foreignText)
/** Ignored fields, whose content other fields repeat. */
export const passedOver = z.unknown().optional()

function optionalField<Value extends z.ZodType>(value: Value) {
  return value.nullish().transform((found) => found ?? null)
}

export function foreignChoice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return optionalField(z.enum(words, expectedMessage(`one of ${words.join(', ')}`)))
}

/** A list, or a single value for a list of one. */
export function listOf<Entry extends z.ZodType>(entry: Entry) {
  return z.preprocess((found) => (found == null ? [] : [found].flat()), z.array(entry))
}

export function foreignRecord<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, expectedMessage('an object'))
}

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/** `sort_order` in JSON is `sortOrder` in a document. */
export function camelKeys<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).map(([key, value]) => [
    key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(entries) as { [Key in keyof Fields as CamelCase<Key>]: Fields[Key] } // by its keys
}

interface UnreadField {
  readonly place: string
  readonly name: string
}

export interface ReadFields<Fields> {
  readonly place: string
  readonly fields: Fields
  /** Unknown fields with a value. */
  readonly unread: readonly UnreadField[]
}

/** Reads the fields of an object and appends its problems, with the location. A wrong field counts as absent, so that the rest is checked. */
export function readFields<Fields>(
  schema: z.ZodType<Fields>,
  value: unknown,
  { place, problems }: { readonly place: string; readonly problems: string[] },
): ReadFields<Fields> {
  const first = schema.safeParse(value)
  if (first.success) return { place, fields: first.data, unread: [] }
  const { issues } = first.error
  const unread: UnreadField[] = []
  for (const issue of issues) {
    const owner = `${place}${fieldPathText(issue.path)}`
    if (issue.code !== 'unrecognized_keys') problems.push(problemOf(issue, value, place))
    else
      for (const name of issue.keys)
        if (valueAtPath(value, [...issue.path, name]) !== null) unread.push({ place: owner, name })
  }
  const copy = { value: structuredClone(value) }
  let wrong = issues
  for (let round = 0; round < maxRounds; round += 1) {
    const removed = new Map<unknown[], Set<number>>()
    for (const issue of wrong.toReversed()) repair(copy, issue, removed)
    for (const [list, places] of removed) removePlaces(list, places)
    const again = schema.safeParse(copy.value)
    if (again.success) return { place, fields: again.data, unread }
    wrong = again.error.issues
  }
  throw new Error(`A field that ${place} must have is no text.`)
}

/** A removed value may then be missing one level below. */
const maxRounds = 10

type PropertyPath = readonly PropertyKey[]

function problemOf({ path, message }: z.core.$ZodIssue, value: unknown, place: string): string {
  const isMissing =
    path.length > 0 && valueAtPath(value, path) == null && isJsonObject(valueAtPath(value, path.slice(0, -1)))
  if (!isMissing) return `${place}${fieldPathText(path)}: ${message}.`
  return `${place}${fieldPathText(path.slice(0, -1))}: "${String(path.at(-1))}" is missing.`
}

/** Removes wrong values; required ones become empty. */
function repair(
  copy: { value: unknown },
  issue: z.core.$ZodIssue,
  removed: Map<unknown[], Set<number>>,
): void {
  const path = ['value', ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    const owner = valueAtPath(copy, path)
    for (const key of issue.keys) if (isJsonObject(owner)) Reflect.deleteProperty(owner, key)
    return
  }
  const [owner, key] = [valueAtPath(copy, path.slice(0, -1)), path.at(-1) ?? '']
  if (typeof owner !== 'object' || owner === null) return
  if (issue.code === 'invalid_type' && issue.expected === 'object') Reflect.set(owner, key, {})
  else if (Array.isArray(owner)) removed.set(owner, (removed.get(owner) ?? new Set()).add(Number(key)))
  else if (valueAtPath(copy, path) == null) Reflect.set(owner, key, key === 'title' ? untitled : '')
  else Reflect.deleteProperty(owner, key)
}

/** Stands for a missing title, so that it is not reported as empty, too. */
const untitled = '?'

function removePlaces(list: unknown[], places: ReadonlySet<number>): void {
  let length = 0
  for (const [at, value] of list.entries()) {
    if (places.has(at)) continue
    list[length] = value
    length += 1
  }
  list.length = length
}

function valueAtPath(value: unknown, path: PropertyPath): unknown {
  return path.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined),
    value,
  )
}

/** `.tasks[0].notes[1]`. */
function fieldPathText(path: PropertyPath): string {
  return path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
}

export type ImportObject = Readonly<Record<string, unknown>>

function foundValueText(value: unknown): string {
  return excerpt(JSON.stringify(value) ?? 'nothing', 60)
}

/** One sentence per unread field of another program, with its count. */
export function unreadFields(read: readonly Pick<ReadFields<unknown>, 'unread'>[]): readonly string[] {
  const found = Map.groupBy(
    read.flatMap(({ unread }) => unread),
    ({ name }) => name,
  )
  return [...found].map(([name, all]) => {
    const first = all[0]?.place ?? ''
    const more = all.length === 1 ? '' : ` and ${all.length - 1} more`
    return `${first}${more}: left out: the field "${name}", which Waymark does not keep.`
  })
}

type ParsedJson =
  | { readonly readable: true; readonly value: unknown }
  | { readonly readable: false; readonly place: string; readonly problem: string }

/** Parses JSON; an error names the line if the engine reports it. */
export function parsedJson(text: string): ParsedJson {
  if (outlineOf(text).tooDeep) {
    const problem = `this is nested too deep: more than ${deepestNesting} brackets within each other.`
    return { readable: false, place: 'file', problem }
  }
  try {
    return { readable: true, value: JSON.parse(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    const message = messageOf(error)
    const position = /at position (\d+)/.exec(message)?.[1]
    const place =
      position === undefined ? 'file' : `line ${text.slice(0, Number(position)).split('\n').length}`
    return { readable: false, place, problem: `this is not JSON: ${message.replace(/\s+/g, ' ')}.` }
  }
}

interface JsonLine {
  readonly place: string
  readonly value: unknown
}

/** The non-empty lines of a JSONL text, and a problem for each that is not JSON. */
export function jsonLines(text: string): {
  readonly lines: readonly JsonLine[]
  readonly problems: string[]
} {
  const lines: JsonLine[] = []
  const problems: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const place = `line ${index + 1}`
    const parsed = parsedJson(line)
    if (parsed.readable) lines.push({ place, value: parsed.value })
    else problems.push(`${place}: ${parsed.problem}`)
  }
  return { lines, problems }
}

const form = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Milliseconds of an ISO 8601 date or time, in UTC without a zone; null for other text. */
export function instantOfText(text: string): number | null {
  const [, date, time = '00:00', zone = 'Z'] = form.exec(text.trim()) ?? []
  if (date === undefined || !isDay(date)) return null
  const at = Date.parse(`${date}T${time}${zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2').toUpperCase()}`)
  return Number.isNaN(at) ? null : at
}
