import type { JsonSchema } from './json-schema.ts'

/**
 * Brings what agents and command lines send into the form a contract expects, where only one form can be meant:
 * null and an empty optional string are absent, `"3"` is a number, `Success` is `success`, one string is a list of one,
 * `taskId` and `task-id` are `task_id`.
 * Anything else is left as it came, for the contract to refuse.
 */
export function adapt(value: unknown, schema: JsonSchema): unknown {
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

/** An object, also where it was sent as the text of one. */
function adaptRecord(value: unknown, schema: JsonSchema): unknown {
  const record = typeof value === 'string' && value.trimStart().startsWith('{') ? parsedOr(value) : value
  return isRecord(record) ? adaptObject(record, schema) : value
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function adaptObject(given: Record<string, unknown>, schema: JsonSchema): Record<string, unknown> {
  const required = new Set(schema.required)
  const adapted: Record<string, unknown> = {}
  for (const [spelt, entry] of Object.entries(given)) {
    const key = meantKey(spelt, given, schema)
    const known = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined
    if (entry === null && schema.properties) continue
    if (entry === '' && known && !required.has(key)) continue
    const value = known ? adapt(entry, known) : entry
    if (key !== '__proto__') adapted[key] = value
    // Assigning to it would drop the key silently instead of having it refused.
    else Object.defineProperty(adapted, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return adapted
}

/** The field that a key is another spelling of, where only that one can be meant. */
function meantKey(key: string, value: Record<string, unknown>, { properties }: JsonSchema): string {
  if (properties === undefined || Object.hasOwn(properties, key)) return key
  const plain = plainKey(key)
  const meant = Object.keys(properties).filter((name) => plainKey(name) === plain)
  return meant.length === 1 && !Object.hasOwn(value, meant[0] ?? '') ? (meant[0] ?? key) : key
}

/** A field's name without what spellings differ in: `taskId`, `task-id` and `task_id` are one. */
export function plainKey(key: string): string {
  return key.replace(/[_-]/g, '').toLowerCase()
}

function adaptArray(value: unknown, schema: JsonSchema): unknown {
  const entries = typeof value === 'string' ? listFrom(value) : value
  if (!Array.isArray(entries)) return value
  return schema.items ? entries.map((entry) => adapt(entry, schema.items ?? {})) : entries
}

/** A list sent as JSON text, or a single entry sent without its list. */
function listFrom(text: string): unknown {
  if (!text.trimStart().startsWith('[')) return [text]
  const parsed = parsedOr(text)
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
  const meant = Object.hasOwn(schema.aliases ?? {}, plain) ? schema.aliases?.[plain] : undefined
  return meant ?? value
}

function adaptNumber(value: string): unknown {
  const trimmed = value.trim()
  if (trimmed === '' || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return value
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
