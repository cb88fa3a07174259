import { z } from 'zod'

/** Maximum length of a stored text, in characters. */
const maxTextLength = 20_000
const maxNameLength = 300
const maxEntries = 200

/** A short name: one line that lists show. */
export function name(description: string) {
  return z.string().overwrite(toOneLine).min(1).max(maxNameLength).describe(description)
}

/** Agents' own names appear beside measured facts, so they must not look like a line of those. */
function toOneLine(text: string): string {
  return text.replace(/[\s\u0085]+/g, (space) => (/[\n\v\f\r\u0085\u2028\u2029]/.test(space) ? ' ' : space))
}

export function text(description: string) {
  return z.string().min(1).max(maxTextLength).describe(description)
}

export function texts(description?: string) {
  const list = z.array(z.string().min(1).max(maxTextLength)).max(maxEntries)
  return description === undefined ? list : list.describe(description)
}

export function identifier(description: string) {
  return z.string().min(1).max(100).describe(description)
}

/** A choice. `aliases` maps other words that agents use, in lower snake case, to the choice they mean. */
export function choice<const Values extends readonly [string, ...string[]]>(
  values: Values,
  description?: string,
  aliases?: Readonly<Record<string, Values[number]>>,
) {
  const schema = z.enum(values)
  return schema.meta({ ...(description && { description }), ...(aliases && { aliases }) })
}

/** A number of things, from 1. */
export function count(description: string, most: number) {
  return z.int().min(1).max(most).describe(description)
}

/** Any JSON object, at most 16,000 characters as JSON. */
export function freeObject(description: string) {
  return z
    .record(z.string(), z.unknown())
    .refine((value) => JSON.stringify(value).length <= 16_000, 'it is longer than 16,000 characters as JSON')
    .describe(description)
}

/** A field for callers who know it from another program; it is not in the list of tools. */
export function unlistedField<Field extends z.ZodType>(field: Field): Field {
  return field.meta({ ...field.meta(), unlisted: true })
}
