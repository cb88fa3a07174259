import { lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Failure, messageOf } from '../../kernel/failure.ts'
import { readOwn } from '../../kernel/files/regular-file.ts'
import { yieldToEventLoop } from '../../kernel/files/yield-to-event-loop.ts'
import { formatCount } from '../../kernel/text.ts'
import type { HookEvent } from '../domain/hook-event.ts'
import { isDuplicateEvent, type RecentEvents } from './duplicates.ts'
import { type HookQueue, logLine, logNote, queueFileNames, sessionFolder, writeOwn } from './hook-queue.ts'
import {
  copiesIn,
  deleteEvents,
  dropExpiredEvents,
  keepWithinLimits,
  maxStateBytes,
  queueLimits,
  removeCopy,
  skippedEvents,
  skipUndeletable,
  stateName,
  waitingEvents,
} from './limits.ts'
import type { QueuedKind } from './queued-event.ts'
import { type EditCopies, hookEventsOf, type ReadEvent, type RecentCopies, readEvent } from './read-event.ts'
import { turnUsage } from './usage.ts'

/** What ingesting needs from the program around it. */
export interface IngestHost {
  /** Records hook events in one transaction or several; a recorded key is not recorded again. */
  readonly record: (hookEvents: readonly HookEvent[]) => Promise<unknown>
}

export interface IngestResult {
  readonly events: number
  readonly hookEvents: number
}

/** The state of a session between two rounds. */
interface SessionState {
  readonly client: string
  readonly version: string | null
  readonly model: string | null
  readonly transcript: string | null
  /** When its turn began. */
  readonly promptedAt: number | null
  readonly lastAt: number
}

interface IngestState {
  readonly sessions: Map<string, SessionState>
  readonly seen: RecentEvents
  /** The parent session of each subagent's session. */
  readonly children: Map<string, string>
  readonly written: RecentCopies
}

const atOnce = 100
const maxSessions = 200
const copiesKeptFor = 24 * 60 * 60_000
const temporaryFor = 60_000

/**
 * Records the events of a queue, and only then removes them: after a failure the next round begins with the same ones.
 * Throws the errors of `record`.
 */
export async function ingestQueue(
  queue: HookQueue,
  host: IngestHost,
  limits = queueLimits,
): Promise<IngestResult> {
  skipUndeletable(queue)
  keepWithinLimits(queue, limits)
  let events = 0
  let hookEvents = 0
  for (let names = waitingEvents(queue); names.length > 0; names = waitingEvents(queue)) {
    // Events that arrive while these are ingested are read in the next round.
    for (let from = 0; from < names.length; from += atOnce) {
      const round = names.slice(from, from + atOnce)
      hookEvents += await ingestRound(queue, host, round)
      events += round.length
      await yieldToEventLoop()
    }
  }
  pruneOld(queue)
  return { events, hookEvents }
}

/** Events that cannot be recorded for days are deleted, and reported as lost once something can be. */
export function forgetOldEvents(queue: HookQueue): void {
  dropExpiredEvents(queue)
}

async function ingestRound(queue: HookQueue, host: IngestHost, names: readonly string[]): Promise<number> {
  const state = readState(queue)
  const made: HookEvent[] = []
  const dropped = { broken: 0, doubles: 0, unknown: 0, outside: 0 }
  const ended = new Map<string, string>()
  for (const [n, name] of names.entries()) {
    // Lets a server answer requests meanwhile.
    if (n % 10 === 9) await yieldToEventLoop()
    const event = readEvent(queue, name)
    if (event === null) {
      dropped.broken += 1
      continue
    }
    const owned = attachToParent(event, state)
    if (owned === null) continue
    if (isDuplicateEvent(owned, state.seen)) {
      dropped.doubles += 1
      continue
    }
    try {
      const info = await readKnownUsage(owned, state, queue.environment)
      const { hookEvents, outside, unknown } = hookEventsOf(owned, {
        queue,
        info,
        written: state.written,
      })
      made.push(...hookEvents)
      dropped.outside += outside
      if (unknown) dropped.unknown += 1
    } catch (error) {
      // An unreadable event does not block the others.
      dropped.broken += 1
      logLine(queue, `ingest: ${name} cannot be read: ${messageOf(error)}`)
    }
    if (['stopped', 'prompted', 'session_ended'].includes(owned.event.kind))
      ended.set(owned.event.session, owned.key)
  }
  await recordAll(queue, host, made)
  // Written before the events are deleted, to recognize later duplicates.
  writeState(queue, state)
  const before = skippedEvents(queue).length
  deleteEvents(queue, names)
  if (skippedEvents(queue).length > before) writeState(queue, state)
  for (const [session, key] of ended) removeCopies(queue, session, key)
  logDropped(queue, dropped)
  return made.length
}

/** Records all events except those that are refused: one bad event does not block the others. */
async function recordAll(
  queue: HookQueue,
  { record }: IngestHost,
  hookEvents: readonly HookEvent[],
): Promise<void> {
  if (hookEvents.length === 0) return
  try {
    await record(hookEvents)
    return
  } catch (error) {
    if (isUnavailable(error)) throw error
    const refusals: { readonly hookEvent: HookEvent; readonly error: unknown }[] = []
    for (const hookEvent of hookEvents) {
      try {
        await record([hookEvent])
      } catch (alone) {
        if (isUnavailable(alone)) throw alone
        refusals.push({ hookEvent, error: alone })
      }
    }
    // If all are refused, it is the caller that is refused, as with an expired token: all events wait.
    const isCaller = refusals.length === hookEvents.length && refusals.every((one) => isOfCaller(one.error))
    if (isCaller) throw error
    for (const { hookEvent, error: why } of refusals)
      logLine(
        queue,
        `ingest: ${hookEvent.what.kind} ${hookEvent.key} could not be recorded: ${messageOf(why)}`,
      )
  }
}

/** Nothing can be recorded for now. */
function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.code === 'UNAVAILABLE'
}

function isOfCaller(error: unknown): boolean {
  return error instanceof Failure && (error.code === 'FORBIDDEN' || error.code === 'REFUSED')
}

/**
 * OpenCode begins a session of its own for a subagent: its events belong to an agent of the parent. Null for events
 * that only the parent reports.
 */
function attachToParent(read: ReadEvent, { children }: IngestState): ReadEvent | null {
  const { event } = read
  if (event.client !== 'opencode') return read
  const { session, parent } = event
  if (event.kind === 'session_started' && parent !== null) {
    children.set(session, children.get(parent) ?? parent)
  }
  const owner = children.get(session)
  if (owner === undefined) return read
  const kind = kindsOfChildren[event.kind] ?? event.kind
  if (kind === 'session_ended' || kind === 'prompted') return null
  return { ...read, event: { ...event, kind, session: owner, agent: { id: session, type: null } } }
}

const kindsOfChildren: Partial<Record<QueuedKind, QueuedKind>> = {
  session_started: 'agent_started',
  stopped: 'agent_stopped',
}

async function readKnownUsage(
  { key, at: lastAt, event }: ReadEvent,
  { sessions }: IngestState,
  environment: Readonly<NodeJS.ProcessEnv>,
) {
  const before = sessions.get(event.session)
  const isMain = event.agent === null
  const state: SessionState = {
    // The first client of a session stays its client.
    client: before?.client ?? event.client,
    version: event.version ?? before?.version ?? null,
    model: (isMain ? event.model : null) ?? before?.model ?? null,
    transcript: (isMain ? event.transcript : null) ?? before?.transcript ?? null,
    promptedAt: event.kind === 'prompted' ? lastAt : (before?.promptedAt ?? null),
    lastAt,
  }
  sessions.delete(event.session)
  sessions.set(event.session, state)
  const { client, promptedAt } = state
  const isStop = event.kind === 'stopped'
  if (!isStop && (event.kind !== 'agent_stopped' || (event.transcript ?? event.usage) === null)) {
    return { client, version: state.version, usage: null, model: isMain ? state.model : null }
  }
  // A subagent's transcript is its own, from its first line.
  const read = await turnUsage(
    { client, transcript: isStop ? state.transcript : event.transcript, session: event.session },
    { from: isStop ? promptedAt : 0, to: Number(key.slice(0, 13)) },
    environment,
  )
  const usage = event.usage ?? read.usage
  const version = state.version ?? read.version
  if (!isStop) return { client, version, usage, model: event.model ?? read.model }
  const model = event.model ?? read.model ?? state.model
  sessions.set(event.session, { ...state, version, model })
  return { client, version, usage, model }
}

/** Removes the copies of a turn that is over and recorded. */
function removeCopies(queue: HookQueue, session: string, until: string): void {
  const folder = join(queue.copies, sessionFolder(session))
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return
  for (const name of queueFileNames(folder)) if (name < until) removeCopy(queue, join(folder, name))
}

function pruneOld(queue: HookQueue): void {
  const now = Date.now()
  for (const name of queueFileNames(queue.events)) {
    if (!name.endsWith('.tmp')) continue
    const path = join(queue.events, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats && now - stats.mtimeMs > temporaryFor) removeCopy(queue, path)
  }
  // Names of copies begin with the time; any other file counts as old.
  for (const path of copiesIn(queue)) {
    const madeAt = Number(basename(path).slice(0, 13)) || 0
    if (now - madeAt > copiesKeptFor) removeCopy(queue, path)
  }
}

function logDropped(queue: HookQueue, dropped: Readonly<Record<string, number>>): void {
  const { broken = 0, unknown = 0, outside = 0 } = dropped
  const skipped = [
    broken > 0 && (broken === 1 ? '1 file that is no event' : `${broken} files that are no events`),
    unknown > 0 && `${formatCount(unknown, 'event')} of an unknown kind`,
    outside > 0 && `${formatCount(outside, 'path')} outside the project`,
  ].filter((one) => one !== false)
  if (skipped.length > 0) logNote(queue, `ingest: left out ${skipped.join(', ')}`)
}

function readState(queue: HookQueue): IngestState {
  try {
    const text = readOwn(join(queue.folder, stateName), maxStateBytes)?.toString('utf8') ?? ''
    // Written below; a changed file only affects which events count as duplicates.
    const { sessions, seen, children, written } = JSON.parse(text) as {
      readonly sessions: readonly (readonly [string, SessionState])[]
      readonly seen: readonly (readonly [string, { readonly key: string; readonly at: number }])[]
      readonly children: readonly (readonly [string, string])[]
      readonly written: readonly (readonly [string, EditCopies])[]
    }
    return {
      sessions: new Map(sessions),
      seen: new Map(seen),
      children: new Map(children),
      written: new Map(written),
    }
  } catch {
    return { sessions: new Map(), seen: new Map(), children: new Map(), written: new Map() }
  }
}

function writeState(queue: HookQueue, { sessions, seen, children, written }: IngestState): void {
  const text = JSON.stringify({
    sessions: [...sessions].slice(-maxSessions),
    seen: [...seen],
    children: [...children].slice(-maxSessions),
    written: [...written],
    undeletable: skippedEvents(queue),
  })
  writeOwn(queue.base, join(queue.folder, stateName), text)
}
