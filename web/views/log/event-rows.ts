import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
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
      waiting ||= window.setTimeout(() => inTurn(newer), 200)
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

/** A log entry as a line: what happened, and to what. */
interface LogEntryText {
  readonly what: string
  readonly about: string
  /** The path of the view that shows the entity. */
  readonly link: string | null
}

/** Describes a log entry of any kind, also of a newer server. `names` are those of tasks and missions by id. */
export function logEntryWords({ kind, body }: LogEntry, names: ReadonlyMap<string, string>): LogEntryText {
  const entity = Object.values(body).find(isJsonObject) ?? {}
  const textFields = ['name', 'question', 'message', 'description', 'content', 'reason', 'answer', 'summary']
  const about = [entity, body]
    .flatMap((record) => textFields.flatMap((field) => textOf(record, field)))
    .find((text) => !hash.test(text))
  const [noun = '', verb = ''] = kind.split('.')
  const link = linkOf(kind, entity, body)
  const named = link === null ? undefined : names.get(link.slice(link.lastIndexOf('/') + 1))
  const action = kind === 'review.sent' ? reviewActions[textOf(entity, 'action')[0] ?? ''] : undefined
  const words = textOf(entity, 'text')[0]
  return {
    what: action ?? plainKinds[kind] ?? `${capitalize(nouns[noun] ?? noun)} ${verb.replaceAll('_', ' ')}`,
    about: about ?? ([named, words].filter((text) => text !== undefined).join(': ') || allNew(kind)),
    link,
  }
}

/** Of a file or a version: it says nothing to a person. */
const hash = /^[0-9a-f]{40,}$/

/** Kinds whose two words do not say what happened. */
const plainKinds: Readonly<Record<string, string>> = {
  'run.advanced': 'Run moved on',
  'run.refused': 'Event refused',
  'process.kept': 'Process recorded',
  'task.marked': 'Task status set',
}

const reviewActions: Readonly<Record<string, string>> = {
  approve: 'Review approved',
  send_back: 'Review sent back',
  comment: 'Review commented',
}

function allNew(kind: string): string {
  return kind === 'review.sent' ? 'All new changes' : ''
}

const nouns: Readonly<Record<string, string>> = { item: 'inbox item', inbox: 'inbox item' }

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

function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
