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

/** Lets a recorded day happen again, so that its last log entry arrives when it says that it happens. */
export async function play(
  events: readonly ProjectEvent[],
  { store, signal, speed }: PlayOptions,
): Promise<void> {
  const [first, last] = [events[0]?.at ?? 0, events.at(-1)?.at ?? 0]
  const begunAt = Date.now()
  if (speed === null) {
    await store.restore(linkEvents(shiftEvents(events, begunAt - last)))
    return
  }
  const endsAt = begunAt + (last - first) / speed
  // The store makes the project itself, with the first log entry of it.
  for (const { at, actor, body } of shiftEvents(events.slice(1), Math.round(endsAt - last))) {
    await sleepUntil(begunAt + (at - (endsAt - (last - first))) / speed, signal)
    if (signal.aborted) return
    await store.record({ actor, at, decide: async () => ({ events: [body], answer: null }) })
  }
}

async function sleepUntil(hookEvent: number, signal: AbortSignal): Promise<void> {
  const left = hookEvent - Date.now()
  if (left > 0) await wait(left, signal)
}

/** Times that a day can name: a day before it began up to a day after it ended. */
const margin = 24 * 60 * 60 * 1000
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The same log entries, so much later: when they happened, and every time that is named in them. */
export function shiftEvents(events: readonly ProjectEvent[], by: number): readonly ProjectEvent[] {
  const first = (events[0]?.at ?? 0) - margin
  const last = (events.at(-1)?.at ?? 0) + margin
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
  return events.map((event) => ({
    ...event,
    at: event.at + by,
    body: later(event.body) as ProjectEvent['body'], // the same shape, with other numbers in it
  }))
}
