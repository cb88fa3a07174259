/** A JSON column as it was written by this program; parsed here, once, and trusted inside. */
export function parsed<Value>(text: string): Value {
  return JSON.parse(text) as Value // the type that was written into this column
}

export function parsedOrNull<Value>(text: string | null): Value | null {
  return text === null ? null : parsed<Value>(text)
}
