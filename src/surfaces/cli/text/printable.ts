/** A text without the characters that would steer a terminal: what agents wrote is shown, never obeyed. */
export function printable(text: string): string {
  return text.replace(/[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv, '')
}

/** The same for every text in a JSON value. */
export function printableAll(value: unknown): unknown {
  if (typeof value === 'string') return printable(value)
  if (Array.isArray(value)) return value.map(printableAll)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, printableAll(entry)]))
}
