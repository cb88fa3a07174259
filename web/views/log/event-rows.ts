import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { describeProjectEvent } from '../../../src/events/domain/event-kinds.ts'
import type { NewProjectEvent } from '../../../src/events/domain/project-event.ts'
import { isJsonObject } from '../../../src/kernel/json.ts'
import { call, errorText } from '../../api/call.ts'
import type { LogEntry } from '../../api/entities.ts'
import { listenToFrames, listenToReloads } from '../../live/feed.ts'
import { showToast } from '../../shell/toasts.tsx'

/** The log, newest first: its end, new entries as they arrive, and older pages on request. */
export interface LogEntries {
  readonly events: ReadonlySignal<readonly LogEntry[] | null>
  /** Whether there is more before the first one. */
  readonly hasOlder: ReadonlySignal<boolean>
  readonly older: () => void
}

const page = 500

export function useLogEntries(): LogEntries {
  const { stop, ...events } = useMemo(readLogEntries, [])
  useEffect(() => stop, [stop])
  return events
}

function readLogEntries(): LogEntries & { readonly stop: () => void } {
  const events = signal<readonly LogEntry[] | null>(null)
  const olderCursor = signal<string | null>(null)
  let busy: Promise<void> = Promise.resolve()
  let waiting = 0

  // In sequence, so that no page is added twice.
  const inTurn = (read: () => Promise<void>) => {
    busy = busy
      .then(read)
      .catch((error: unknown) => void showToast({ kind: 'refused', text: errorText(error) }))
  }
  const whole = () =>
    inTurn(async () => {
      const answer = await call('log', { limit: page })
      events.value = answer.events.toReversed()
      olderCursor.value = answer.next_cursor
    })
  const newer = async () => {
    waiting = 0
    const loaded = events.value
    if (loaded === null) return
    const { events: next } = await call('log', { since: loaded[0]?.seq ?? 0, limit: page })
    if (next.length > 0) events.value = [...next.toReversed(), ...loaded]
  }
  const older = () =>
    inTurn(async () => {
      const loaded = events.value ?? []
      if (olderCursor.value === null) return
      const { events: next, next_cursor } = await call('log', { cursor: olderCursor.value, limit: page })
      events.value = [...loaded, ...next.toReversed()]
      olderCursor.value = next_cursor
    })
  const stops = [
    listenToFrames(() => {
      waiting ||= setTimeout(() => inTurn(newer), 200)
    }),
    listenToReloads(whole),
  ]
  whole()
  return {
    events,
    hasOlder: computed(() => olderCursor.value !== null),
    older,
    stop: () => {
      clearTimeout(waiting)
      for (const stop of stops) stop()
    },
  }
}

/** A log entry as a line. */
interface LogEntryText {
  /** What the actor did, in the words of `waymark log`. */
  readonly what: string
  /** The path of the view that shows the entity. */
  readonly link: string | null
}

/** Describes a log entry of any kind, also of a newer server. `names` are those of tasks and missions by id. */
export function logEntryWords({ kind, body }: LogEntry, names: ReadonlyMap<string, string>): LogEntryText {
  const entity = Object.values(body).find(isJsonObject) ?? {}
  return { what: sentenceOf(kind, body, names), link: linkOf(kind, entity, body) }
}

function sentenceOf(kind: string, body: EventFields, names: ReadonlyMap<string, string>): string {
  try {
    // The operation spreads a log entry into kind and body; this puts it together again.
    return describeProjectEvent({ ...body, kind } as NewProjectEvent, names)
  } catch {
    // A kind, or a field, that this page does not know.
    return kind.replaceAll(/[._]/g, ' ')
  }
}

type EventFields = Readonly<Record<string, unknown>>

function linkOf(kind: string, entity: EventFields, body: EventFields): string | null {
  const own = textOf(entity, 'id')[0]
  if (kind === 'task.planned' && own) return `/tasks/${own}`
  if (kind === 'mission.started' && own) return `/missions/${own}`
  const subject = isJsonObject(entity['subject']) ? entity['subject'] : {}
  const of = (field: string) =>
    textOf(body, field)[0] ?? textOf(entity, field)[0] ?? textOf(subject, field)[0]
  const [task, run, mission] = [of('taskId'), of('runId'), of('missionId')]
  if (task) return `/tasks/${task}`
  if (run) return `/runs/${run}`
  return mission ? `/missions/${mission}` : null
}

function textOf(record: EventFields, field: string): readonly string[] {
  const value = record[field]
  return typeof value === 'string' && value !== '' ? [value] : []
}
