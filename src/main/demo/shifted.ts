import type { Fact } from '../../domain/fact.ts'

/** Times that a day can name: a day before it began up to a day after it ended. */
const margin = 24 * 60 * 60 * 1000
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The same facts, so much later: when they happened, and every time that is named in them. */
export function shifted(facts: readonly Fact[], by: number): readonly Fact[] {
  const first = (facts[0]?.at ?? 0) - margin
  const last = (facts.at(-1)?.at ?? 0) + margin
  const isOfDay = (at: number) => at >= first && at <= last
  const later = (value: unknown): unknown => {
    if (typeof value === 'number') return isOfDay(value) ? value + by : value
    if (typeof value === 'string') {
      if (!isoTime.test(value)) return value
      const at = Date.parse(value)
      return isOfDay(at) ? new Date(at + by).toISOString() : value
    }
    if (Array.isArray(value)) return value.map(later)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, later(inner)]))
  }
  return facts.map((fact) => ({
    ...fact,
    at: fact.at + by,
    happening: later(fact.happening) as Fact['happening'], // the same shape, with other numbers in it
  }))
}
