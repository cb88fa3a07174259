import { excerpt } from '../../domain/budget.ts'
import type { JsonObject } from '../../domain/gate/json.ts'

const longestContext = 2_500
const longestValue = 200

/** A run's context in an answer: whole where it is short, else with its long values cut, and said so. */
export function fittingContext(context: JsonObject): {
  readonly context: Record<string, unknown>
  readonly context_cut?: readonly string[]
} {
  if (JSON.stringify(context).length <= longestContext) return { context: { ...context } }
  const cut: string[] = []
  const entries = Object.entries(context).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (text === undefined || text.length <= longestValue) return [name, value] as const
    cut.push(name)
    return [name, excerpt(text, longestValue)] as const
  })
  return { context: Object.fromEntries(entries.slice(0, 50)), context_cut: cut }
}
