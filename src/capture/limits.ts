import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { eventName, type SpooledEvent } from './event.ts'
import { namesIn, nextKey, type Spool, writeWhole } from './spool.ts'

const longestEvent = 8 * 1024 * 1024
const longestCopy = 1024 * 1024
const keptFor = 7 * 24 * 60 * 60_000
export const spoolLimits = { bytes: 64 * 1024 * 1024, events: 20_000 }

/** The names of the events that wait, the oldest first. */
export function waitingEvents(spool: Spool): readonly string[] {
  return namesIn(spool.folder)
    .filter((name) => eventName.test(name))
    .sort()
}

/** Removes what is too much: the oldest copies first, then the oldest events, which are told as lost. */
export function keepWithinLimits(spool: Spool, limits = spoolLimits): void {
  const names = waitingEvents(spool)
  const kept = copiesIn(spool)
  // Most of the time it is known without looking how large each is.
  const most = names.length * longestEvent + kept.length * longestCopy
  if (names.length <= limits.events && most <= limits.bytes) return
  const events = names.map((name) => ({
    path: join(spool.folder, name),
    size: sizeOf(join(spool.folder, name)),
  }))
  const copies = kept.map((path) => ({ path, size: sizeOf(path) }))
  let bytes = [...events, ...copies].reduce((sum, { size }) => sum + size, 0)
  for (const { path, size } of copies) {
    if (bytes <= limits.bytes) break
    rmSync(path, { force: true })
    bytes -= size
  }
  let count = events.length
  const gone: string[] = []
  for (const { path, size } of events) {
    if (bytes <= limits.bytes && count <= limits.events) break
    gone.push(path)
    bytes -= size
    count -= 1
  }
  removeEvents(spool, gone, 'the spool was full')
}

/** Removes events that waited longer than anybody would look for them. */
export function dropExpired(spool: Spool): void {
  const before = Date.now() - keptFor
  const old = waitingEvents(spool).filter((name) => Number(name.slice(0, 13)) < before)
  const why = 'nothing could record them for 7 days'
  removeEvents(
    spool,
    old.map((name) => join(spool.folder, name)),
    why,
  )
}

/** Each session is told how many of its events are gone. */
function removeEvents(spool: Spool, paths: readonly string[], why: string): void {
  const gone = new Map<string, { one: SpooledEvent; count: number }>()
  for (const path of paths) {
    const one = eventIn(path)
    rmSync(path, { force: true })
    if (one === null) continue
    const before = gone.get(one.session)?.count ?? 0
    gone.set(one.session, { one, count: before + (one.count ?? 1) })
  }
  for (const { one, count } of gone.values()) writeLost(spool, one, count, why)
}

function eventIn(path: string): SpooledEvent | null {
  try {
    const said: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof said === 'object' && said !== null && 'session' in said ? (said as SpooledEvent) : null // as a hook wrote it
  } catch {
    return null
  }
}

/** All copies, the oldest first. */
export function copiesIn(spool: Spool): readonly string[] {
  return namesIn(spool.copies)
    .flatMap((session) => namesIn(join(spool.copies, session)).map((name) => ({ session, name })))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ session, name }) => join(spool.copies, session, name))
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Events that had to go, for whoever drains. */
function writeLost(spool: Spool, one: SpooledEvent, count: number, why: string): void {
  const lost = { ...one, kind: 'lost', edits: [], items: [], text: null, usage: null, call: null, pair: null }
  writeWhole(spool.folder, `${nextKey(Date.now())}.json`, JSON.stringify({ ...lost, count, why }))
}
