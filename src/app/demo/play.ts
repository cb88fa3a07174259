import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { wait } from '../../kernel/wait.ts'
import type { Store } from '../../store/ports/store.ts'
import { linkEvents } from './recording.ts'

export interface PlayOptions {
  readonly store: Store
  readonly signal: AbortSignal
  /** How many times quicker than it was; null for everything at once. */
  readonly speed: number | null
}

/** Lets a recorded day happen again, so that its last fact arrives when it says that it happens. */
export async function play(
  facts: readonly ProjectEvent[],
  { store, signal, speed }: PlayOptions,
): Promise<void> {
  const [first, last] = [facts[0]?.at ?? 0, facts.at(-1)?.at ?? 0]
  const begunAt = Date.now()
  if (speed === null) {
    await store.restore(linkEvents(shiftEvents(facts, begunAt - last)))
    return
  }
  const endsAt = begunAt + (last - first) / speed
  // The store makes the project itself, with the first fact of it.
  for (const { at, actor, body } of shiftEvents(facts.slice(1), Math.round(endsAt - last))) {
    await sleepUntil(begunAt + (at - (endsAt - (last - first))) / speed, signal)
    if (signal.aborted) return
    await store.record({ actor, at, decide: async () => ({ facts: [body], answer: null }) })
  }
}

async function sleepUntil(moment: number, signal: AbortSignal): Promise<void> {
  const left = moment - Date.now()
  if (left > 0) await wait(left, signal)
}

/** Times that a day can name: a day before it began up to a day after it ended. */
const margin = 24 * 60 * 60 * 1000
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The same facts, so much later: when they happened, and every time that is named in them. */
export function shiftEvents(facts: readonly ProjectEvent[], by: number): readonly ProjectEvent[] {
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
    body: later(fact.body) as ProjectEvent['body'], // the same shape, with other numbers in it
  }))
}
