import canonicalize from 'canonicalize'
import type { Fingerprint } from './ports/store.ts'

export const fingerprint: Fingerprint = (value) => sha256(canonicalText(value))

/** RFC 8785: one text for one value, whatever the order of its keys. */
export function canonicalText(value: unknown): string {
  const text = canonicalize(toWellFormed(value))
  if (text === undefined) throw new Error('only JSON values have a canonical form')
  return text
}

export function sha256(text: string): string {
  // Loaded at the first use: importing it takes a server that starts ten milliseconds.
  return process.getBuiltinModule('node:crypto').hash('sha256', text)
}

// JSON may carry half a surrogate pair, which has no UTF-8: databases store U+FFFD for it, and so do we.
export function toWellFormed<Value>(value: Value): Value {
  if (!loneSurrogateEscape.test(JSON.stringify(value) ?? '')) return value
  return wellFormedJson(value) as Value // the same shape, with other text
}

/** As JSON escapes it. Text that spells such an escape out looks the same, and is then looked through for nothing. */
export const loneSurrogateEscape = /\\ud[89a-f]/

function wellFormedJson(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormedJson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormedJson(item)]),
  )
}

/** A value as every engine can keep it: PostgreSQL has no text with a NUL, so a sign stands for it. */
export function toStorable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u2400') : value
}
