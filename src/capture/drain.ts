import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readdir, rm, stat, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Moment } from '../domain/capture/moment.ts'
import { Failure, messageOf } from '../domain/failure.ts'
import { counted } from '../domain/text.ts'
import { isDouble, type Seen } from './doubles.ts'
import type { SpooledKind } from './event.ts'
import { copiesIn, dropExpired, keepWithinLimits, spoolLimits, waitingEvents } from './limits.ts'
import { momentsOf, type ReadEvent, readEvent, type Written, type WrittenCopies } from './reading.ts'
import { logLine, namesIn, type Spool, sessionFolder, spoolOf } from './spool.ts'
import { turnUsage } from './usage.ts'

/** What draining needs from the program around it. */
export interface DrainHost {
  /** The folder that `.waymark` lies in. */
  readonly root: string
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** Records moments in one transaction or several; what was recorded under a key is not recorded again. */
  readonly record: (moments: readonly Moment[]) => Promise<unknown>
}

export interface Drained {
  readonly events: number
  readonly moments: number
}

/** What is known of a session between two rounds. */
interface SessionState {
  readonly client: string
  readonly version: string | null
  readonly model: string | null
  readonly transcript: string | null
  /** When its turn began. */
  readonly promptedAt: number | null
  readonly lastAt: number
}

interface DrainState {
  readonly sessions: Map<string, SessionState>
  readonly seen: Seen
  /** Sessions of subagents, and whose they are. */
  readonly children: Map<string, string>
  readonly written: Written
}

const atOnce = 100
const mostSessions = 200
const copiesKeptFor = 24 * 60 * 60_000
const temporaryFor = 60_000

/**
 * Records what waits in the spool, and removes it only then: whatever happens in between, the next round begins with the
 * same events. Throws what the record throws.
 */
export async function drainSpool(host: DrainHost, limits = spoolLimits): Promise<Drained> {
  const spool = spoolOf(host.root)
  keepWithinLimits(spool, limits)
  let events = 0
  let moments = 0
  for (let names = waitingEvents(spool); names.length > 0; names = waitingEvents(spool)) {
    // The names are those of the whole spool: what comes while they are drained is read in the next round.
    for (let from = 0; from < names.length; from += atOnce) {
      const round = names.slice(from, from + atOnce)
      moments += await drainRound(host, spool, round)
      events += round.length
      await nextTurn()
    }
  }
  await tidyUp(spool)
  return { events, moments }
}

/** What cannot be recorded for days goes, and is told once something can be. */
export function forgetOldEvents(root: string): void {
  dropExpired(spoolOf(root))
}

async function drainRound(host: DrainHost, spool: Spool, names: readonly string[]): Promise<number> {
  const state = readState(spool)
  const made: Moment[] = []
  const dropped = { broken: 0, doubles: 0, unknown: 0, outside: 0 }
  const ended = new Map<string, string>()
  const files = await Promise.all(names.map((name) => readEvent(spool, name)))
  for (const found of files) {
    if (found === null) {
      dropped.broken += 1
      continue
    }
    const read = ofParent(found, state)
    if (read === null) continue
    if (isDouble(read, state.seen)) {
      dropped.doubles += 1
      continue
    }
    const { moments, outside, unknown } = await momentsOf(read, {
      root: host.root,
      spool,
      known: await knownOf(read, state, host.environment),
      written: state.written,
    })
    made.push(...moments)
    dropped.outside += outside
    if (unknown) dropped.unknown += 1
    if (['stopped', 'prompted', 'session_ended'].includes(read.event.kind))
      ended.set(read.event.session, read.key)
  }
  await recordAll(host, made)
  // Before the events go: a double that comes later is known by it.
  writeState(spool, state)
  await Promise.all(names.map((name) => unlink(join(spool.folder, name)).catch(() => undefined)))
  for (const [session, key] of ended) await removeCopies(spool, session, key)
  tellDropped(host.root, dropped)
  return made.length
}

/** Records all, or all but what the record cannot take: that one would keep all others waiting for ever. */
async function recordAll({ record, root }: DrainHost, moments: readonly Moment[]): Promise<void> {
  if (moments.length === 0) return
  try {
    await record(moments)
  } catch (error) {
    if (error instanceof Failure) throw error
    for (const moment of moments) {
      try {
        await record([moment])
      } catch (alone) {
        if (alone instanceof Failure) throw alone
        logLine(root, `drain: ${moment.what.kind} ${moment.key} could not be recorded: ${messageOf(alone)}`)
      }
    }
  }
}

/**
 * OpenCode begins a session of its own for a subagent: what that one tells is the parent's agent's. Null for what only
 * the parent could tell.
 */
function ofParent(read: ReadEvent, { children }: DrainState): ReadEvent | null {
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

const kindsOfChildren: Partial<Record<SpooledKind, SpooledKind>> = {
  session_started: 'agent_started',
  stopped: 'agent_stopped',
}

async function knownOf(
  { key, at, event }: ReadEvent,
  { sessions }: DrainState,
  environment: Readonly<NodeJS.ProcessEnv>,
) {
  const before = sessions.get(event.session)
  const isMain = event.agent === null
  const told: SessionState = {
    // Who spoke first in a session speaks in all of it.
    client: before?.client ?? event.client,
    version: event.version ?? before?.version ?? null,
    model: (isMain ? event.model : null) ?? before?.model ?? null,
    transcript: (isMain ? event.transcript : null) ?? before?.transcript ?? null,
    promptedAt: event.kind === 'prompted' ? at : (before?.promptedAt ?? null),
    lastAt: at,
  }
  sessions.delete(event.session)
  sessions.set(event.session, told)
  const { client, promptedAt } = told
  const isStop = event.kind === 'stopped'
  if (!isStop && (event.kind !== 'agent_stopped' || (event.transcript ?? event.usage) === null)) {
    return { client, version: told.version, usage: null, model: isMain ? told.model : null }
  }
  // A subagent's transcript is its own, from its first line.
  const read = await turnUsage(
    { client, transcript: isStop ? told.transcript : event.transcript, session: event.session },
    { from: isStop ? promptedAt : 0, to: Number(key.slice(0, 13)) },
    environment,
  )
  const usage = event.usage ?? read.usage
  const version = told.version ?? read.version
  if (!isStop) return { client, version, usage, model: event.model ?? read.model }
  const model = event.model ?? read.model ?? told.model
  sessions.set(event.session, { ...told, version, model })
  return { client, version, usage, model }
}

/** Copies of a turn that is over: what they tell is recorded. */
async function removeCopies(spool: Spool, session: string, until: string): Promise<void> {
  const folder = join(spool.copies, sessionFolder(session))
  const names = await readdir(folder).catch(() => [])
  await Promise.all(
    names.filter((name) => name < until).map((name) => rm(join(folder, name), { force: true })),
  )
}

async function tidyUp(spool: Spool): Promise<void> {
  const now = Date.now()
  for (const name of namesIn(spool.folder)) {
    if (!name.endsWith('.tmp')) continue
    const path = join(spool.folder, name)
    const found = await stat(path).catch(() => null)
    if (found && now - found.mtimeMs > temporaryFor) await rm(path, { force: true })
  }
  // Their names begin with the time: what is no copy is as old as can be.
  for (const path of copiesIn(spool)) {
    const madeAt = Number(basename(path).slice(0, 13)) || 0
    if (now - madeAt > copiesKeptFor) await rm(path, { force: true })
  }
}

function tellDropped(root: string, dropped: Readonly<Record<string, number>>): void {
  const { broken = 0, unknown = 0, outside = 0 } = dropped
  const said = [
    broken > 0 && (broken === 1 ? '1 file that is no event' : `${broken} files that are no events`),
    unknown > 0 && `${counted(unknown, 'event')} of an unknown kind`,
    outside > 0 && `${counted(outside, 'path')} outside the project`,
  ].filter((one) => one !== false)
  if (said.length > 0) logLine(root, `drain: left out ${said.join(', ')}`)
}

function stateFile(spool: Spool): string {
  return join(spool.folder, 'drained.json')
}

function readState(spool: Spool): DrainState {
  try {
    // Written below; whoever changes it only changes what is a double.
    const { sessions, seen, children, written } = JSON.parse(readFileSync(stateFile(spool), 'utf8')) as {
      readonly sessions: readonly (readonly [string, SessionState])[]
      readonly seen: readonly (readonly [string, { readonly key: string; readonly at: number }])[]
      readonly children: readonly (readonly [string, string])[]
      readonly written?: readonly (readonly [string, WrittenCopies])[]
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

function writeState(spool: Spool, { sessions, seen, children, written }: DrainState): void {
  const text = JSON.stringify({
    sessions: [...sessions].slice(-mostSessions),
    seen: [...seen],
    children: [...children].slice(-mostSessions),
    written: [...written],
  })
  mkdirSync(spool.folder, { recursive: true, mode: 0o700 })
  const temporary = `${stateFile(spool)}.tmp`
  writeFileSync(temporary, text, { mode: 0o600 })
  renameSync(temporary, stateFile(spool))
}
