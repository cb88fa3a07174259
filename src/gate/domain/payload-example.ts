import { isJsonObject, type JsonObject } from '../../kernel/json.ts'

/** The fields that a payload must have, each with what it takes: `{ risk: 'low|high' }`. Null if nothing is required. */
export function payloadExample(schema: JsonObject | null): JsonObject | null {
  const { required, properties } = schema ?? {}
  if (!Array.isArray(required) || required.length === 0) return null
  const fields = isJsonObject(properties) ? properties : {}
  return Object.fromEntries(
    required
      .filter((name) => typeof name === 'string')
      .map((name) => [name, exampleOf(name, Object.hasOwn(fields, name) ? fields[name] : null)]),
  )
}

function exampleOf(name: string, schema: unknown): unknown {
  if (!isJsonObject(schema)) return `<${name}>`
  const { enum: choices, const: constant, type, items } = schema
  if (constant !== undefined) return constant
  if (Array.isArray(choices)) return choices.length === 1 ? choices[0] : choices.join('|')
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return payloadExample(schema) ?? {}
    case 'array':
      return [exampleOf(name, items)]
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1
    default:
      return `<${name}>`
  }
}
