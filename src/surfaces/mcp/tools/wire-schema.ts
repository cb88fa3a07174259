import type { JsonSchema } from '../../../operations/input/json-schema.ts'

/** A JSON Schema as a client is given it. */
export type WireSchema = Readonly<Record<string, unknown>>

/** What zod writes besides the part of JSON Schema that our own code reads. */
interface WrittenSchema extends JsonSchema {
  readonly anyOf?: readonly WrittenSchema[]
  readonly minItems?: number
}

/**
 * An input schema without what costs a model tokens and tells it nothing: lengths far beyond what it sends, the limits
 * of an integer, our own keywords, that fields which are not listed are not taken. What is left out is still checked,
 * and a refusal says it.
 */
export function inputOnWire(schema: WrittenSchema): WireSchema {
  const { description, enum: choices, properties, required, items, minimum, maximum, minItems } = schema
  return {
    ...typeOf(schema),
    ...(description !== undefined && { description }),
    ...(choices !== undefined && { enum: choices }),
    ...(isTelling(minimum) && { minimum }),
    ...(isTelling(maximum) && { maximum }),
    ...(minItems !== undefined && { minItems }),
    ...(schema.default !== undefined && { default: schema.default }),
    ...(properties && { properties: mapValues(listed(properties), inputOnWire) }),
    ...(items && { items: inputOnWire(items) }),
    ...(required && required.length > 0 && { required }),
    ...(schema.additionalProperties === false && isEmpty(properties) && { additionalProperties: false }),
  }
}

/**
 * The top-level keys of an output with their types. None is required, because a refusal has the same schema and
 * clients check it: `{ success: false, error }`.
 */
export function outputOnWire(schema: WrittenSchema): WireSchema {
  return { type: 'object', properties: mapValues(schema.properties ?? {}, typeOf) }
}

function listed<Field extends JsonSchema>(properties: Readonly<Record<string, Field>>) {
  return Object.fromEntries(Object.entries(properties).filter(([, { unlisted }]) => unlisted !== true))
}

function isEmpty(properties: JsonSchema['properties']): boolean {
  return properties !== undefined && Object.keys(properties).length === 0
}

function typeOf(schema: WrittenSchema): WireSchema {
  const types = typesOf(schema)
  if (types.length === 0) return {}
  return { type: types.length === 1 ? types[0] : types }
}

function typesOf({ type, anyOf }: WrittenSchema): readonly string[] {
  if (anyOf) return [...new Set(anyOf.flatMap(typesOf))]
  if (type === undefined) return []
  return typeof type === 'string' ? [type] : type
}

function isTelling(limit: number | undefined): limit is number {
  return limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Readonly<Record<string, Mapped>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
