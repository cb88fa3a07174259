import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { wait } from '../../kernel/wait.ts'
import { memoryLog } from '../../store/ports/record-rows.ts'
import type { Store } from '../../store/ports/store.ts'
import { linkEvents } from './recording.ts'

export interface PlayOptions {
  readonly store: Store
  readonly signal: AbortSignal
  /** The factor of acceleration; null for everything at once. */
  readonly speed: number | null
}

/** Plays a recorded day, so that each log entry arrives at its own time. */
export async function play(
  events: readonly ProjectEvent[],
  { store, signal, speed }: PlayOptions,
): Promise<void> {
  const [first, last] = [events[0]?.recordedAt ?? 0, events.at(-1)?.recordedAt ?? 0]
  const begunAt = Date.now()
  if (speed === null) {
    await store.restore(memoryLog(linkEvents(shiftEvents(events, begunAt - last))))
    return
  }
  const endsAt = begunAt + (last - first) / speed
  // The store makes the project itself, with its first log entry.
  for (const { recordedAt, actor, body } of shiftEvents(events.slice(1), Math.round(endsAt - last))) {
    await sleepUntil(begunAt + (recordedAt - (endsAt - (last - first))) / speed, signal)
    if (signal.aborted) return
    await store.record({ actor, at: recordedAt, decide: async () => ({ events: [body], answer: null }) })
  }
}

async function sleepUntil(hookEvent: number, signal: AbortSignal): Promise<void> {
  const left = hookEvent - Date.now()
  if (left > 0) await wait(left, signal)
}

/** The range of a day's times: from a day before its start to a day after its end. */
const margin = 24 * 60 * 60 * 1000
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Shifts log entries: their own times and every time in their bodies. */
export function shiftEvents(events: readonly ProjectEvent[], by: number): readonly ProjectEvent[] {
  const first = (events[0]?.recordedAt ?? 0) - margin
  const last = (events.at(-1)?.recordedAt ?? 0) + margin
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
    recordedAt: event.recordedAt + by,
    body: later(event.body) as ProjectEvent['body'], // the same shape, with other numbers in it
  }))
}
