/** A value as a message shows it: as JSON, cut when long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(clipped(value, 3)) ?? String(value)
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`
}

/** As much of a value as can be shown: what is left out lies behind the eightieth sign. */
function clipped(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return value.slice(0, 100)
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return Array.isArray(value) ? ['…'] : { '…': 1 }
  if (Array.isArray(value)) return value.slice(0, 50).map((entry) => clipped(entry, levels - 1))
  const entries: [string, unknown][] = []
  for (const key in value) {
    if (entries.length >= 30) break
    if (Object.hasOwn(value, key))
      entries.push([key.slice(0, 100), clipped(Reflect.get(value, key), levels - 1)])
  }
  return Object.fromEntries(entries)
}
