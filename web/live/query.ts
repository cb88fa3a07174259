import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { InputOf, OutputOf } from '../../src/surfaces/http/client/client.ts'
import { call } from '../api/call.ts'
import { base } from '../router/location.ts'
import { isAffectedBy, isAffectedByIdentities, type LiveQueryName } from './affected-queries.ts'
import { connection, listenToFrames, listenToIdentities, listenToReloads } from './feed.ts'

interface LiveQuery<Answer> {
  /** Null until it was read. */
  readonly answer: ReadonlySignal<Answer | null>
  /** Why the last reading failed; null when it did not. */
  readonly failure: ReadonlySignal<unknown>
  /** Reads it now, as after a command of one's own. */
  readonly refresh: () => void
}

interface StartedQuery<Answer> extends LiveQuery<Answer> {
  readonly stop: () => void
}

interface QueryOptions {
  /** What it answers does not change any more: log entries do not make it read again. */
  readonly once?: boolean
  /** What stands around the view is read after the view itself. */
  readonly unhurried?: boolean
  /** Read again after so many milliseconds, too, while somebody looks: what changes is no log entry of this project. */
  readonly every?: number
}

/** Milliseconds for which what is unhurried lets others go first. */
const patience = 60

/**
 * Reads a query now, and again after each log entry that concerns it. At most one reading is under way, and the next one
 * begins no sooner than the last one took: a page takes no more than half of a busy server's time.
 */
export function startQuery<Name extends LiveQueryName>(
  name: Name,
  input: InputOf<Name>,
  { once = false, unhurried = false, every }: QueryOptions = {},
): StartedQuery<OutputOf<Name>> {
  const answer = signal<OutputOf<Name> | null>(null)
  const failure = signal<unknown>(null)
  const ended = new AbortController()
  // Until this ends, another project may be shown.
  const project = base.peek()
  let known = ''
  let waiting = 0
  let rested = 0
  let reading = false
  let again = false

  const read = async () => {
    waiting = 0
    if (reading) {
      again = true
      return
    }
    reading = true
    const began = performance.now()
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
      const now = performance.now()
      rested = now + (now - began)
    }
    if (again && !ended.signal.aborted) {
      again = false
      soon()
    }
  }
  // Frames of one log entry come together, before any timer.
  const soon = () => {
    const wait = Math.max(unhurried ? patience : 0, rested - performance.now())
    waiting ||= setTimeout(() => void read(), wait)
  }
  const stops = [
    listenToFrames((frame) => {
      if (!once && isAffectedBy(name, input, frame)) soon()
    }),
    listenToReloads(() => void read()),
    listenToIdentities((kinds) => {
      if (!once && isAffectedByIdentities(name, kinds)) soon()
    }),
    // A server that went away has no log entry to tell of what could not be read meanwhile.
    connection.subscribe(({ is }) => {
      if (is === 'live' && failure.peek() !== null) soon()
    }),
  ]
  const timer = every && window.setInterval(() => document.hidden || soon(), every)
  void read()
  return {
    answer,
    failure,
    refresh: () => void read(),
    stop: () => {
      ended.abort()
      clearTimeout(waiting)
      clearInterval(timer)
      for (const stop of stops) stop()
    },
  }
}

/** A query that lives as long as the component; another input is another query. */
export function useQuery<Name extends LiveQueryName>(
  name: Name,
  input: InputOf<Name>,
  { once = false, every }: QueryOptions = {},
): LiveQuery<OutputOf<Name>> {
  const key = JSON.stringify(input)
  const query = useMemo(() => startQuery(name, input, { once, ...(every && { every }) }), [name, key, once])
  useEffect(() => () => query.stop(), [query])
  return query
}
