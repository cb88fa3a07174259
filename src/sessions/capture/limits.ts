import { lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { removeContained } from '../../kernel/files/contained-file.ts'
import { readOwn } from '../../kernel/files/regular-file.ts'
import { type HookQueue, logLine, nextKey, queueFileNames, writeOwn } from './hook-queue.ts'
import { eventName, type QueuedEvent } from './queued-event.ts'

export const maxEventBytes = 8 * 1024 * 1024
const maxCopyBytes = 1024 * 1024
const keptForMs = 7 * 24 * 60 * 60_000
export const queueLimits = { bytes: 64 * 1024 * 1024, events: 20_000 }

// Events that were read and could not be deleted, by the folder of their queue: each is read once.
const undeletable = new Map<string, Set<string>>()

/** The names of the events that wait, the oldest first. */
export function waitingEvents({ events }: HookQueue): readonly string[] {
  const passed = undeletable.get(events)
  return queueFileNames(events)
    .filter((name) => eventName.test(name) && !passed?.has(name))
    .sort()
}

/** Deletes events that were read. One that cannot be deleted is left out from now on. */
export function deleteEvents(queue: HookQueue, names: readonly string[]): void {
  for (const name of names) {
    const done = removeContained(queue.base, join(queue.events, name))
    if (!('reason' in done)) continue
    skipEvent(queue, name)
    logLine(queue, `ingest: ${name} cannot be deleted (${done.detail ?? done.reason}): delete it`)
  }
}

function skipEvent({ events }: HookQueue, name: string): void {
  const passed = undeletable.get(events) ?? new Set()
  undeletable.set(events, passed.add(name))
}

export const stateName = 'ingested.json'
export const maxStateBytes = 16 * 1024 * 1024

/** Leaves out what another process could not delete. */
export function skipUndeletable(queue: HookQueue): void {
  try {
    const text = readOwn(join(queue.folder, stateName), maxStateBytes)?.toString('utf8') ?? ''
    // As ingesting writes it.
    const { undeletable } = JSON.parse(text) as { readonly undeletable: readonly string[] }
    for (const name of undeletable) skipEvent(queue, name)
  } catch {}
}

/** Those that are there still. */
export function skippedEvents({ events }: HookQueue): readonly string[] {
  const passed = undeletable.get(events)
  return passed === undefined ? [] : queueFileNames(events).filter((name) => passed.has(name))
}

/** Removes what is too much: the oldest copies first, then the oldest events, which are told as lost. */
export function keepWithinLimits(queue: HookQueue, limits = queueLimits): void {
  const names = waitingEvents(queue)
  const kept = copiesIn(queue)
  // Most of the time it is known without looking how large each is.
  const most = names.length * maxEventBytes + kept.length * maxCopyBytes
  if (names.length <= limits.events && most <= limits.bytes) return
  const events = names.map((name) => ({
    path: join(queue.events, name),
    size: sizeOf(join(queue.events, name)),
  }))
  const copies = kept.map((path) => ({ path, size: sizeOf(path) }))
  let bytes = [...events, ...copies].reduce((sum, { size }) => sum + size, 0)
  for (const { path, size } of copies) {
    if (bytes <= limits.bytes) break
    removeCopy(queue, path)
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
  removeEvents(queue, gone, 'the hook queue was full')
}

/** Removes events that waited longer than anybody would look for them. */
export function dropExpiredEvents(queue: HookQueue): void {
  const before = Date.now() - keptForMs
  const old = waitingEvents(queue).filter((name) => Number(name.slice(0, 13)) < before)
  const why = 'nothing could record them for 7 days'
  removeEvents(
    queue,
    old.map((name) => join(queue.events, name)),
    why,
  )
}

/** Each session is told how many of its events are gone. */
function removeEvents(queue: HookQueue, paths: readonly string[], why: string): void {
  const gone = new Map<string, { one: QueuedEvent; count: number }>()
  for (const path of paths) {
    const one = eventIn(path)
    deleteEvents(queue, [basename(path)])
    if (one === null) continue
    const before = gone.get(one.session)?.count ?? 0
    gone.set(one.session, { one, count: before + (one.count ?? 1) })
  }
  for (const { one, count } of gone.values()) writeLost(queue, one, count, why)
}

function eventIn(path: string): QueuedEvent | null {
  try {
    const said: unknown = JSON.parse(readOwn(path, maxEventBytes)?.toString('utf8') ?? '')
    return typeof said === 'object' && said !== null && 'session' in said ? (said as QueuedEvent) : null // as a hook wrote it
  } catch {
    return null
  }
}

/** All copies, the oldest first. What is no folder of a session holds none. */
export function copiesIn(queue: HookQueue): readonly string[] {
  return queueFileNames(queue.copies)
    .filter((session) => isFolder(join(queue.copies, session)))
    .flatMap((session) => queueFileNames(join(queue.copies, session)).map((name) => ({ session, name })))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ session, name }) => join(queue.copies, session, name))
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** One that cannot be deleted stays: nothing waits for it. */
export function removeCopy(queue: HookQueue, path: string): void {
  removeContained(queue.base, path)
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Events that had to go, for whoever ingests. */
function writeLost(queue: HookQueue, one: QueuedEvent, count: number, why: string): void {
  const lost = { ...one, kind: 'lost', edits: [], items: [], text: null, usage: null, call: null, pair: null }
  writeOwn(
    queue.base,
    join(queue.events, `${nextKey(Date.now())}.json`),
    JSON.stringify({ ...lost, count, why }),
  )
}
