import type { OutputUnit } from '@cfworker/json-schema'
import { isJsonObject, type JsonObject, shownJson, valueAt } from '../json.ts'

export interface SchemaProblem {
  /** A JSON pointer, `/summary`; `/` for the whole. */
  readonly path: string
  /** What is wrong there, without the subject: `is missing`, `must be a string, not 3`. */
  readonly message: string
}

/** What the validator found, in words: it speaks of instances and subschemas. */
export function inWords(unit: OutputUnit, schema: JsonObject, value: unknown): SchemaProblem {
  const path = pointer(unit.instanceLocation)
  const wanted = valueAt(schema, segments(unit.keywordLocation))
  const found = valueAt(value, segments(unit.instanceLocation))
  const missing = unit.keyword === 'required' ? /"(.*)"/s.exec(unit.error)?.[1] : undefined
  if (missing !== undefined) return { path: `${path}/${escaped(missing)}`, message: 'is missing' }
  const says = words[unit.keyword]
  if (unit.keyword === 'false') return { path: path || '/', message: 'is not allowed here' }
  if (says === undefined || wanted === undefined) return { path: path || '/', message: plain(unit.error) }
  return {
    path: path || '/',
    message: `${says(wanted)}${showsValue.includes(unit.keyword) ? `, not ${shownJson(found)}` : ''}`,
  }
}

const words: Readonly<Record<string, (wanted: unknown) => string>> = {
  type: (types) => `must be ${[types].flat().map(article).join(' or ')}`,
  enum: (values) => `must be one of ${listed(values)}`,
  const: (value) => `must be ${shownJson(value)}`,
  minimum: (least) => `must be at least ${shownJson(least)}`,
  maximum: (most) => `must be at most ${shownJson(most)}`,
  exclusiveMinimum: (limit) => `must be above ${shownJson(limit)}`,
  exclusiveMaximum: (limit) => `must be below ${shownJson(limit)}`,
  multipleOf: (step) => `must be a multiple of ${shownJson(step)}`,
  minLength: (least) =>
    least === 1 ? 'must not be empty' : `must have at least ${shownJson(least)} characters`,
  maxLength: (most) => `must have at most ${shownJson(most)} characters`,
  pattern: (pattern) => `must fit the pattern ${shownJson(pattern)}`,
  format: (format) => `must be of the form "${String(format)}"`,
  minItems: (least) => `must have at least ${amount(least, 'entry', 'entries')}`,
  maxItems: (most) => `must have at most ${amount(most, 'entry', 'entries')}`,
  uniqueItems: () => 'must not have the same entry twice',
  minProperties: (least) => `must have at least ${amount(least, 'field', 'fields')}`,
  maxProperties: (most) => `must have at most ${amount(most, 'field', 'fields')}`,
  anyOf: (forms) => typed(forms) ?? 'fits none of the forms that are allowed here',
  oneOf: () => 'must fit exactly one of the forms that are allowed here',
  not: () => 'has a form that is excluded here',
}

const showsValue: readonly string[] = [
  'type',
  'enum',
  'const',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'pattern',
  'format',
]

/** `{ type: string }` or `{ type: null }`. */
function typed(forms: unknown): string | null {
  const types = [forms].flat().map((form) => (isJsonObject(form) ? form['type'] : undefined))
  if (types.some((type) => typeof type !== 'string')) return null
  return `must be ${types.map(article).join(' or ')}`
}

function article(type: unknown): string {
  const name = String(type)
  if (name === 'null') return 'null'
  if (name === 'integer') return 'a whole number'
  if (name === 'boolean') return 'true or false'
  return name === 'object' || name === 'array' ? `an ${name}` : `a ${name}`
}

function listed(values: unknown): string {
  const all = Array.isArray(values) ? values : [values]
  const shown = all.slice(0, 12).map(shownJson).join(', ')
  return all.length > 12 ? `${shown}, …` : shown
}

function amount(count: unknown, one: string, many: string): string {
  return `${shownJson(count)} ${count === 1 ? one : many}`
}

function plain(error: string): string {
  return error.replace(/^Instance /, '').replace(/\.$/, '')
}

function segments(location: string): readonly string[] {
  return pointer(location)
    .split('/')
    .slice(1)
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'))
}

/** The validator writes `#/a` and escapes it as a part of a URI. */
function pointer(location: string): string {
  return decodeURIComponent(location.slice(1))
}

function escaped(key: string): string {
  return key.replace(/~/g, '~0').replace(/\//g, '~1')
}
