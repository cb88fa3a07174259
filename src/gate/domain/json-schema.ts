import { dereference, format, type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { messageOf } from '../../kernel/failure.ts'
import { isJsonObject, type JsonObject } from '../../kernel/json.ts'
import { linearPattern } from '../../kernel/pattern.ts'
import { shownJson, valueAt } from './json.ts'

/** Validates a value: the innermost problems only. An unusable schema is one problem. */
export function schemaProblems(schema: JsonObject, value: unknown): readonly SchemaProblem[] {
  try {
    const validator = hasKeyword(schema, 'patternProperties')
      ? boundedValidator(closeUnlistedKeys(schema, value))
      : validatorOf(schema)
    const { valid, errors } = validator.validate(value)
    if (valid) return []
    const choices = errors.filter(({ keyword }) => ['anyOf', 'oneOf', 'propertyNames'].includes(keyword))
    const inner = errors.filter((unit) => !containers.includes(unit.keyword) && !isInside(unit, choices))
    return (inner.length === 0 ? errors : inner)
      .slice(0, 20)
      .map((unit) => schemaProblemOf(unit, validator.schema, value))
  } catch (error) {
    return [{ path: '/', message: `the schema cannot be used: ${messageOf(error).replace(/\n.*/s, '')}` }]
  }
}

// A thousand files are checked against one schema, and walking it takes longer than checking a file.
const validators = new WeakMap<JsonObject, BoundedValidator>()

function validatorOf(schema: JsonObject): BoundedValidator {
  const cached = validators.get(schema)
  if (cached) return cached
  const validator = boundedValidator(schema)
  validators.set(schema, validator)
  return validator
}

// Their errors only repeat an error inside them, which is reported too.
const containers: readonly string[] = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'allOf',
  'if',
  '$ref',
]

/** Whether an error is about one of several alternatives, whose errors contradict each other. */
function isInside({ keywordLocation }: OutputUnit, choices: readonly OutputUnit[]): boolean {
  return choices.some((choice) => keywordLocation.startsWith(`${choice.keywordLocation}/`))
}

/** Why a JSON Schema is unusable, as a sentence; null if it is usable. Needs no value. */
export function unusableSchema(schema: JsonObject): string | null {
  let lookup: JsonObject
  try {
    lookup = dereference(structuredClone({ ...schema }))
  } catch (error) {
    return `It is not a JSON Schema: ${messageOf(error)}`
  }
  return problemIn(schema, Object.keys(lookup))
}

const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const mapsOfSchemas = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'schemas',
]
const schemas = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames']
const listsOfSchemas = ['allOf', 'anyOf', 'oneOf', 'prefixItems']

function problemIn(schema: unknown, uris: readonly string[]): string | null {
  if (typeof schema === 'boolean') return null
  if (!isJsonObject(schema)) return `${shownJson(schema)} is not a schema.`
  return ownProblem(schema, uris) ?? firstProblem(subschemas(schema), uris)
}

function ownProblem(schema: JsonObject, uris: readonly string[]): string | null {
  const { $ref, pattern, patternProperties, type, required } = schema
  if (typeof $ref === 'string' && !uris.some((uri) => uri.endsWith($ref))) {
    return `$ref "${$ref}" leads nowhere.`
  }
  const patterns = isJsonObject(patternProperties) ? Object.keys(patternProperties) : []
  const texts = [...patterns, ...(typeof pattern === 'string' ? [pattern] : [])]
  const wrong = texts.find((text) => !isPattern(text))
  if (wrong !== undefined) return `"${wrong}" is not a regular expression.`
  const costly = texts.find((text) => linearPattern(text) === null)
  if (costly !== undefined) {
    return `The pattern ${shownJson(costly)} looks ahead, looks back or refers back, or is far too long: matching might never end. Write it without.`
  }
  const typeNames = type === undefined ? [] : [type].flat()
  const unknownType = typeNames.find((name) => typeof name !== 'string' || !types.includes(name))
  if (unknownType !== undefined)
    return `There is no type ${shownJson(unknownType)}; the types are ${types.join(', ')}.`
  if (required !== undefined && !Array.isArray(required)) return '"required" must be a list of names.'
  return null
}

function subschemas(schema: JsonObject): readonly unknown[] {
  return [
    ...mapsOfSchemas.flatMap((key) => (isJsonObject(schema[key]) ? Object.values(schema[key]) : [])),
    ...schemas.flatMap((key) => (schema[key] === undefined ? [] : [schema[key]].flat())),
    ...listsOfSchemas.flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : [])),
  ]
}

function firstProblem(parts: readonly unknown[], uris: readonly string[]): string | null {
  for (const part of parts) {
    const problem = problemIn(part, uris)
    if (problem !== null) return problem
  }
  return null
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** A validator that ends soon, whatever its schema and the value are: it fails with a sentence instead. */
interface BoundedValidator {
  /** The schema as the places of its errors name it. */
  readonly schema: JsonObject
  validate(value: unknown): { readonly valid: boolean; readonly errors: readonly OutputUnit[] }
}

/** The limit of nested and consecutive schema applications. */
const maxSteps = 30_000
/** `uniqueItems` compares each entry with each. */
const maxUnique = 500

function boundedValidator(schema: JsonObject): BoundedValidator {
  const steps = { left: Number.POSITIVE_INFINITY }
  const validator = new Validator(prepareSchema(schema, steps) as Schema, '2020-12', false)
  return {
    schema,
    validate(value) {
      if (hasKeyword(schema, 'uniqueItems')) refuseLong(value)
      steps.left = maxSteps
      const { valid, errors } = validator.validate(value)
      return { valid, errors: errors.map(patternError) }
    },
  }
}

/** The same schema with each `patternProperties` written out as `properties`, for the keys that a value has. */
function closeUnlistedKeys(schema: JsonObject, value: unknown): JsonObject {
  const keys = keysIn(value)
  return mapSchema(schema, (node) => {
    const { patternProperties, ...rest } = node
    if (!isJsonObject(patternProperties)) return node
    const patterns = Object.entries(patternProperties)
    const properties = isJsonObject(rest['properties']) ? rest['properties'] : {}
    const added = [...keys].flatMap((key) => {
      const matching = patterns.filter(([source]) => testPattern(source, key)).map(([, inside]) => inside)
      if (matching.length === 0) return []
      return [
        [key, { allOf: Object.hasOwn(properties, key) ? [properties[key], ...matching] : matching }] as const,
      ]
    })
    return { ...rest, properties: { ...properties, ...Object.fromEntries(added) } }
  })
}

function hasKeyword(schema: unknown, keyword: string): boolean {
  if (Array.isArray(schema)) return schema.some((entry) => hasKeyword(entry, keyword))
  if (!isJsonObject(schema)) return false
  return (
    Object.hasOwn(schema, keyword) ||
    Object.entries(schema).some(([key, inside]) => !literal.includes(key) && hasKeyword(inside, keyword))
  )
}

// Below these keys are values, not schemas.
const literal: readonly string[] = ['const', 'enum', 'default', 'examples']

function mapSchema(schema: unknown, change: (node: JsonObject) => JsonObject): JsonObject {
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (!isJsonObject(node)) return node
    const inside = Object.entries(node).map(([key, value]) => [
      key,
      literal.includes(key) ? value : walk(value),
    ])
    return change(Object.fromEntries(inside))
  }
  return walk(schema) as JsonObject // an object is changed into an object
}

/**
 * The library tries patterns with the engine of the language, which may go back for ever; its formats are functions. So
 * a pattern becomes a format of its own. Reading the `type` of a schema is how a step is counted.
 */
function prepareSchema(schema: JsonObject, steps: { left: number }): JsonObject {
  return mapSchema(structuredClone({ ...schema }), ({ pattern, allOf, ...rest }) => {
    const all = Array.isArray(allOf) ? allOf : []
    const parts = typeof pattern === 'string' ? [...all, { format: formatOf(pattern) }] : all
    const node = { ...rest, ...(allOf === undefined && typeof pattern !== 'string' ? {} : { allOf: parts }) }
    const result = typeof pattern === 'string' || pattern === undefined ? node : { ...node, pattern }
    const { type } = rest
    return Object.defineProperty(result, 'type', {
      enumerable: type !== undefined,
      get: () => {
        steps.left -= 1
        if (steps.left < 0) throw new Error(tooMany)
        return type
      },
    })
  })
}

const tooMany = `checking this takes more than ${maxSteps} steps. Make the value or the schema smaller.`
const prefix = 'pattern '

function formatOf(pattern: string): string {
  const name = `${prefix}${pattern}`
  format[name] ??= (text) => testPattern(pattern, text)
  return name
}

function testPattern(source: string, text: string): boolean {
  const pattern = linearPattern(source)
  if (pattern === null) {
    throw new Error(`the pattern ${shownJson(source)} looks ahead or back, or is far too long.`)
  }
  if (text.length <= pattern.longest) return pattern.test(text)
  throw new Error(
    `a text of ${text.length} characters is too long for the pattern ${shownJson(source)}, which is tried on ${pattern.longest}.`,
  )
}

// The library's expression may backtrack forever.
format['url'] = (text) => /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text)

/** An error of such a format is one of its pattern. */
function patternError(unit: OutputUnit): OutputUnit {
  const place =
    unit.keyword === 'format' ? /^(.*)\/allOf\/\d+\/format$/.exec(unit.keywordLocation)?.[1] : undefined
  if (place === undefined || !unit.error.includes(`"${prefix}`)) return unit
  return {
    ...unit,
    keyword: 'pattern',
    keywordLocation: `${place}/pattern`,
    error: unit.error.replace(`format "${prefix}`, 'pattern "'),
  }
}

function keysIn(value: unknown, keys = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const entry of value) keysIn(entry, keys)
  else if (isJsonObject(value)) {
    for (const [key, inside] of Object.entries(value)) {
      keys.add(key)
      keysIn(inside, keys)
    }
  }
  if (keys.size > 2_000) throw new Error('the value has more than 2000 keys, too many for patternProperties.')
  return keys
}

function refuseLong(value: unknown): void {
  if (Array.isArray(value) && value.length > maxUnique) {
    throw new Error(`a list has ${value.length} entries; for uniqueItems at most ${maxUnique} are compared.`)
  }
  if (typeof value === 'object' && value !== null)
    for (const inside of Object.values(value)) refuseLong(inside)
}

export interface SchemaProblem {
  /** A JSON pointer, `/summary`; `/` for the whole. */
  readonly path: string
  /** The problem without its subject: `is missing`, `must be a string, not 3`. */
  readonly message: string
}

/** Translates errors of the validator, which speaks of instances and subschemas. */
function schemaProblemOf(unit: OutputUnit, schema: JsonObject, value: unknown): SchemaProblem {
  const path = pointer(unit.instanceLocation)
  const wanted = keywordAt(schema, segments(unit.keywordLocation))
  const actual = valueAt(value, segments(unit.instanceLocation))
  const missing = unit.keyword === 'required' ? /"(.*)"/s.exec(unit.error)?.[1] : undefined
  if (missing !== undefined) return { path: `${path}/${escapePointerKey(missing)}`, message: 'is missing' }
  const says = words[unit.keyword]
  if (unit.keyword === 'false') return { path: path || '/', message: 'is not allowed here' }
  if (says === undefined || wanted === undefined)
    return { path: path || '/', message: plainError(unit.error) }
  return {
    path: path || '/',
    message: `${says(wanted)}${showsValue.includes(unit.keyword) ? `, not ${shownJson(actual)}` : ''}`,
  }
}

const words: Readonly<Record<string, (wanted: unknown) => string>> = {
  type: (types) => `must be ${[types].flat().map(article).join(' or ')}`,
  enum: (values) => `must be one of ${listedValues(values)}`,
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
  minItems: (least) => `must have at least ${countPhrase(least, 'entry', 'entries')}`,
  maxItems: (most) => `must have at most ${countPhrase(most, 'entry', 'entries')}`,
  uniqueItems: () => 'must not have the same entry twice',
  contains: () => 'has no entry of the required form',
  minContains: (least) => `must have at least ${countPhrase(least, 'entry', 'entries')} of the required form`,
  maxContains: (most) => `must have at most ${countPhrase(most, 'entry', 'entries')} of the required form`,
  propertyNames: () => 'has a field whose name is not allowed',
  minProperties: (least) => `must have at least ${countPhrase(least, 'field', 'fields')}`,
  maxProperties: (most) => `must have at most ${countPhrase(most, 'field', 'fields')}`,
  anyOf: (forms) => typeRequirement(forms) ?? 'fits none of the forms that are allowed here',
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
function typeRequirement(forms: unknown): string | null {
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

function listedValues(values: unknown): string {
  const all = Array.isArray(values) ? values : [values]
  const text = all.slice(0, 12).map(shownJson).join(', ')
  return all.length > 12 ? `${text}, …` : text
}

function countPhrase(count: unknown, one: string, many: string): string {
  return `${shownJson(count)} ${count === 1 ? one : many}`
}

function plainError(error: string): string {
  return error
    .replace(/^Instance /, '')
    .replace('does not have', 'not')
    .replace(/\.$/, '')
}

/** The value of a keyword, with references on its path resolved. */
function keywordAt(schema: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, part) => {
    const next = valueAt(node, [part])
    return part === '$ref' && typeof next === 'string' ? valueAt(schema, segments(next)) : next
  }, schema)
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

function escapePointerKey(key: string): string {
  return key.replace(/~/g, '~0').replace(/\//g, '~1')
}
