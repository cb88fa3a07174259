const form = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Milliseconds since the epoch of an ISO 8601 date or time, in UTC where it names no zone; null of any other text. */
export function instantOfText(text: string): number | null {
  const [, date, time = '00:00', zone = 'Z'] = form.exec(text.trim()) ?? []
  if (date === undefined) return null
  const at = Date.parse(`${date}T${time}${zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2').toUpperCase()}`)
  return Number.isNaN(at) ? null : at
}
