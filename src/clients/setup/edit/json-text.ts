export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** The style of a value: on one line with or without spaces, or on several lines if too long. */
export type JsonLayout =
  | { readonly inline: boolean }
  | {
      readonly unit: string
      readonly eol: string
      readonly indent: string
      /** The number of outer levels that always use several lines, because others add to them. */
      readonly spread?: number
    }

const widest = 100

export function printJsonValue(value: Json, written: JsonLayout): string {
  if ('inline' in written) return printInline(value, written.inline)
  const { unit, eol, indent, spread = 0 } = written
  const short = printInline(value, true)
  if (isFlat(value) && spread === 0 && indent.length + short.length <= widest) return short
  const lines = (entries: readonly string[]) =>
    entries.map((entry) => `${eol}${indent}${unit}${entry}`).join(',') + eol + indent
  const deeper = { unit, eol, indent: indent + unit }
  if (Array.isArray(value)) return `[${lines(value.map((entry) => printJsonValue(entry, deeper)))}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const below = { ...deeper, spread: Math.max(0, spread - 1) }
  const entries = Object.entries(value).map(
    ([key, entry]) => `${JSON.stringify(key)}: ${printJsonValue(entry, below)}`,
  )
  return `{${lines(entries)}}`
}

function printInline(value: Json, spaced: boolean): string {
  if (!spaced) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((entry) => printInline(entry, true)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(
    ([key, entry]) => `${JSON.stringify(key)}: ${printInline(entry, true)}`,
  )
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** Whether the entries are single values, or lists and objects of these. */
function isFlat(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every((entry: Json) => {
    if (typeof entry !== 'object' || entry === null) return true
    return Object.values(entry).every((inner: Json) => typeof inner !== 'object' || inner === null)
  })
}
