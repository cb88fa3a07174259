/** A value as a message shows it: as JSON, cut when long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`
}
