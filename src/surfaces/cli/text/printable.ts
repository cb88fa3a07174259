// What steers a terminal: the control characters of C0 and C1 but line breaks and tabs, and the signs that turn text around.
const steering = /[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv

/** A text without the characters that would steer a terminal: what agents wrote is shown, never obeyed. */
export function printable(text: string): string {
  return text.replace(steering, '')
}

/** The same for every text in a JSON value. */
export function printableAll(value: unknown): unknown {
  if (typeof value === 'string') return printable(value)
  if (Array.isArray(value)) return value.map(printableAll)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [printable(key), printableAll(entry)]),
  )
}

/** JSON of the same value: what JSON.stringify leaves as it is, such as U+009B, is written as an escape. */
export function printableJson(json: string): string {
  return json.replace(steering, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A text that was styled by us: of all that steers a terminal, only a style that begins or ends is left. */
export function printableStyled(text: string): string {
  return text.replace(
    /(\p{Cc})(\[\d{1,2}m)|[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv,
    (_, control = '', style = '') => (kept.includes(control) ? control : '') + style,
  )
}

const kept = ['\u001b', '\n', '\t']
