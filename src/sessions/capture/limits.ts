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
  const skipped = undeletable.get(events)
  return queueFileNames(events)
    .filter((name) => eventName.test(name) && !skipped?.has(name))
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
  const skipped = undeletable.get(events) ?? new Set()
  undeletable.set(events, skipped.add(name))
}

export const stateName = 'ingested.json'
export const maxStateBytes = 16 * 1024 * 1024

/** Leaves out events that another process could not delete. */
export function skipUndeletable(queue: HookQueue): void {
  try {
    const text = readOwn(join(queue.folder, stateName), maxStateBytes)?.toString('utf8') ?? ''
    // As ingesting writes it.
    const { undeletable } = JSON.parse(text) as { readonly undeletable: readonly string[] }
    for (const name of undeletable) skipEvent(queue, name)
  } catch {}
}

/** The undeletable events that still exist. */
export function skippedEvents({ events }: HookQueue): readonly string[] {
  const skipped = undeletable.get(events)
  return skipped === undefined ? [] : queueFileNames(events).filter((name) => skipped.has(name))
}

/** Removes what is over the limits: the oldest copies first, then the oldest events, which are reported as lost. */
export function keepWithinLimits(queue: HookQueue, limits = queueLimits): void {
  const names = waitingEvents(queue)
  const kept = copiesIn(queue)
  // Most of the time the largest possible size is enough to know.
  const maxBytes = names.length * maxEventBytes + kept.length * maxCopyBytes
  if (names.length <= limits.events && maxBytes <= limits.bytes) return
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

/** Removes events that waited too long. */
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

/** Removes events and records in each session how many were lost. */
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
    const parsed: unknown = JSON.parse(readOwn(path, maxEventBytes)?.toString('utf8') ?? '')
    return typeof parsed === 'object' && parsed !== null && 'session' in parsed
      ? (parsed as QueuedEvent)
      : null // as a hook wrote it
  } catch {
    return null
  }
}

/** All copies, the oldest first. */
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

/** Deletes a copy. One that cannot be deleted stays. */
export function removeCopy(queue: HookQueue, path: string): void {
  removeContained(queue.base, path)
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Queues an event that reports lost ones. */
function writeLost(queue: HookQueue, one: QueuedEvent, count: number, why: string): void {
  const lost = { ...one, kind: 'lost', edits: [], items: [], text: null, usage: null, call: null, pair: null }
  writeOwn(
    queue.base,
    join(queue.events, `${nextKey(Date.now())}.json`),
    JSON.stringify({ ...lost, count, why }),
  )
}
