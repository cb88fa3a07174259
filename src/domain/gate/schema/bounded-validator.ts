import { format, type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { linearPattern } from '../../linear-pattern.ts'
import { isJsonObject, type JsonObject, shownJson } from '../json.ts'

/** A validator that ends soon, whatever its schema and the value are: it fails with a sentence instead. */
export interface BoundedValidator {
  /** The schema as the places of its errors name it. */
  readonly schema: JsonObject
  validate(value: unknown): { readonly valid: boolean; readonly errors: readonly OutputUnit[] }
}

/** How many schemas may be applied, one inside the other or one after the other. */
const mostSteps = 30_000
/** `uniqueItems` compares each entry with each. */
const mostUnique = 500

export function boundedValidator(given: JsonObject): BoundedValidator {
  const steps = { left: Number.POSITIVE_INFINITY }
  const validator = new Validator(prepared(given, steps) as Schema, '2020-12', false)
  return {
    schema: given,
    validate(value) {
      if (hasKeyword(given, 'uniqueItems')) refuseLong(value)
      steps.left = mostSteps
      const { valid, errors } = validator.validate(value)
      return { valid, errors: errors.map(ofPattern) }
    },
  }
}

/** The same schema with each `patternProperties` written out as `properties`, for the keys that a value has. */
export function withKeysOf(schema: JsonObject, value: unknown): JsonObject {
  const keys = keysIn(value)
  return mapped(schema, (node) => {
    const { patternProperties, ...rest } = node
    if (!isJsonObject(patternProperties)) return node
    const patterns = Object.entries(patternProperties)
    const own = isJsonObject(rest['properties']) ? rest['properties'] : {}
    const found = [...keys].flatMap((key) => {
      const meant = patterns.filter(([source]) => tested(source, key)).map(([, inside]) => inside)
      if (meant.length === 0) return []
      return [[key, { allOf: Object.hasOwn(own, key) ? [own[key], ...meant] : meant }] as const]
    })
    return { ...rest, properties: { ...own, ...Object.fromEntries(found) } }
  })
}

export function hasKeyword(schema: unknown, keyword: string): boolean {
  if (Array.isArray(schema)) return schema.some((entry) => hasKeyword(entry, keyword))
  if (!isJsonObject(schema)) return false
  return (
    Object.hasOwn(schema, keyword) ||
    Object.entries(schema).some(([key, inside]) => !literal.includes(key) && hasKeyword(inside, keyword))
  )
}

// What stands below these is a value and no schema.
const literal: readonly string[] = ['const', 'enum', 'default', 'examples']

function mapped(schema: unknown, change: (node: JsonObject) => JsonObject): JsonObject {
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
function prepared(schema: JsonObject, steps: { left: number }): JsonObject {
  return mapped(structuredClone({ ...schema }), ({ pattern, allOf, ...rest }) => {
    const all = Array.isArray(allOf) ? allOf : []
    const parts = typeof pattern === 'string' ? [...all, { format: formatOf(pattern) }] : all
    const node = { ...rest, ...(allOf === undefined && typeof pattern !== 'string' ? {} : { allOf: parts }) }
    const kept = typeof pattern === 'string' || pattern === undefined ? node : { ...node, pattern }
    const { type } = rest
    return Object.defineProperty(kept, 'type', {
      enumerable: type !== undefined,
      get: () => {
        steps.left -= 1
        if (steps.left < 0) throw new Error(tooMany)
        return type
      },
    })
  })
}

const tooMany = `checking this takes more than ${mostSteps} steps. Make the value or the schema smaller.`
const prefix = 'pattern '

function formatOf(pattern: string): string {
  const name = `${prefix}${pattern}`
  format[name] ??= (text) => tested(pattern, text)
  return name
}

function tested(source: string, text: string): boolean {
  const pattern = linearPattern(source)
  if (pattern === null) {
    throw new Error(`the pattern ${shownJson(source)} looks ahead or back, or is far too long.`)
  }
  if (text.length <= pattern.longest) return pattern.test(text)
  throw new Error(
    `a text of ${text.length} characters is too long for the pattern ${shownJson(source)}, which is tried on ${pattern.longest}.`,
  )
}

// The expression of the library goes back for ever.
format['url'] = (text) => /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text)

/** An error of such a format is one of its pattern. */
function ofPattern(unit: OutputUnit): OutputUnit {
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
  if (Array.isArray(value) && value.length > mostUnique) {
    throw new Error(`a list has ${value.length} entries; for uniqueItems at most ${mostUnique} are compared.`)
  }
  if (typeof value === 'object' && value !== null)
    for (const inside of Object.values(value)) refuseLong(inside)
}
