import { dereference } from '@cfworker/json-schema'
import { linearPattern } from '../../linear-pattern.ts'
import { isJsonObject, type JsonObject, shownJson } from '../json.ts'

/** Why a JSON Schema could not check anything, as a sentence; null when it can. Found before any value is there. */
export function unusableSchema(schema: JsonObject): string | null {
  let lookup: JsonObject
  try {
    lookup = dereference(structuredClone({ ...schema }))
  } catch (error) {
    return `It is no JSON Schema: ${error instanceof Error ? error.message : String(error)}`
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

function problemIn(schema: unknown, known: readonly string[]): string | null {
  if (typeof schema === 'boolean') return null
  if (!isJsonObject(schema)) return `${shownJson(schema)} stands where a schema must.`
  return ownProblem(schema, known) ?? firstProblem(inside(schema), known)
}

function ownProblem(schema: JsonObject, known: readonly string[]): string | null {
  const { $ref, pattern, patternProperties, type, required } = schema
  if (typeof $ref === 'string' && !known.some((uri) => uri.endsWith($ref))) {
    return `$ref "${$ref}" leads nowhere.`
  }
  const patterns = isJsonObject(patternProperties) ? Object.keys(patternProperties) : []
  const texts = [...patterns, ...(typeof pattern === 'string' ? [pattern] : [])]
  const wrong = texts.find((text) => !isPattern(text))
  if (wrong !== undefined) return `"${wrong}" is no regular expression.`
  const costly = texts.find((text) => linearPattern(text) === null)
  if (costly !== undefined) {
    return `The pattern ${shownJson(costly)} looks ahead, looks back or refers back, or is far too long: it might be tried for ever. Write it without.`
  }
  const named = type === undefined ? [] : [type].flat()
  const odd = named.find((name) => typeof name !== 'string' || !types.includes(name))
  if (odd !== undefined) return `There is no type ${shownJson(odd)}; the types are ${types.join(', ')}.`
  if (required !== undefined && !Array.isArray(required)) return '"required" must be a list of names.'
  return null
}

function inside(schema: JsonObject): readonly unknown[] {
  return [
    ...mapsOfSchemas.flatMap((key) => (isJsonObject(schema[key]) ? Object.values(schema[key]) : [])),
    ...schemas.flatMap((key) => (schema[key] === undefined ? [] : [schema[key]].flat())),
    ...listsOfSchemas.flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : [])),
  ]
}

function firstProblem(parts: readonly unknown[], known: readonly string[]): string | null {
  for (const part of parts) {
    const problem = problemIn(part, known)
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
