import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { InputOf, OperationName } from '../../src/surfaces/http/client/client.ts'
import { type AnswerOf, call } from '../api/call.ts'
import { base } from '../router/location.ts'
import { connection, type Frame, onFrame, onWhole } from './feed.ts'

export interface LiveQuery<Answer> {
  /** Null until it was read. */
  readonly answer: ReadonlySignal<Answer | null>
  /** Why the last reading failed; null when it did not. */
  readonly failure: ReadonlySignal<unknown>
  /** Reads it now, as after a command of one's own. */
  readonly refresh: () => void
}

export type Concerns = (frame: Frame) => boolean

/** Frames of one fact come together and are read together, milliseconds. */
const together = 8
/** Readings begin at least so far apart, milliseconds. */
const apart = 120

export interface StartedQuery<Answer> extends LiveQuery<Answer> {
  readonly stop: () => void
}

/** Reads a query now and again whenever a fact concerns it. At most one reading is under way. */
export function startQuery<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  concerns: Concerns = () => true,
): StartedQuery<AnswerOf<Name>> {
  const answer = signal<AnswerOf<Name> | null>(null)
  const failure = signal<unknown>(null)
  const ended = new AbortController()
  // Until this ends, another project may be shown.
  const project = base.peek()
  let known = ''
  let waiting = 0
  let readAt = 0
  let reading = false
  let again = false

  const read = async () => {
    waiting = 0
    if (reading) {
      again = true
      return
    }
    reading = true
    readAt = performance.now()
    try {
      const next = await call(name, input, { project, signal: ended.signal })
      const text = JSON.stringify(next)
      if (text !== known) answer.value = next
      known = text
      failure.value = null
    } catch (error) {
      if (!ended.signal.aborted) failure.value = error
    } finally {
      reading = false
    }
    if (again && !ended.signal.aborted) {
      again = false
      soon()
    }
  }
  const soon = () => {
    const rest = readAt + apart - performance.now()
    waiting ||= window.setTimeout(() => void read(), Math.max(together, rest))
  }
  const stops = [
    onFrame((frame) => {
      if (concerns(frame)) soon()
    }),
    onWhole(() => void read()),
    // A server that went away has no fact to tell of what could not be read meanwhile.
    connection.subscribe(({ is }) => {
      if (is === 'live' && failure.peek() !== null) soon()
    }),
  ]
  void read()
  return {
    answer,
    failure,
    refresh: () => void read(),
    stop: () => {
      ended.abort()
      clearTimeout(waiting)
      for (const stop of stops) stop()
    },
  }
}

/** A query that lives as long as the component; another input is another query. */
export function useQuery<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  concerns?: Concerns,
): LiveQuery<AnswerOf<Name>> {
  const key = JSON.stringify(input)
  const query = useMemo(() => startQuery(name, input, concerns), [name, key])
  useEffect(() => () => query.stop(), [query])
  return query
}
