import { configured, isTrue } from './configuration.ts'
import type { ContentSettings } from './content-settings.ts'
import type { Conversion } from './conversion.ts'
import { type DiskFile, diskFile, sameStat } from './disk.ts'
import { filteredState, filtersOf } from './filters.ts'
import { type Candidate, hashAndKeep, hashOnly, shareTiers } from './hashing.ts'
import { keptBytes } from './kept-contents.ts'
import { displayPath, type PathBytes } from './path-bytes.ts'
import type { PrivateDirectory } from './private-directory.ts'
import type { Repository } from './repository.ts'
import type { DiskState, OverlayEntry, RepositoryState } from './state.ts'
import type { GitState } from './status.ts'

/** A path whose state on disk is still to be found. */
export interface Draft {
  readonly head: GitState | null
  readonly index: GitState | null
  readonly tracked: boolean
}

export interface DraftWork {
  readonly repository: Repository
  readonly conversion: Conversion
  readonly drafts: ReadonlyMap<PathBytes, Draft>
  readonly known: Known
}

/** What earlier snapshots of the work tree know, and how much may be kept beside it. */
export interface Known {
  readonly earlier: RepositoryState | null
  /** When that one began, by the clock of the file system. */
  readonly takenAt: number
  readonly settings: ContentSettings
  readonly budget: number
}

// A clock may tick in steps of up to two seconds: a younger file may have changed again within the same tick.
const settled = 2_000

export interface HashedDrafts {
  readonly entries: ReadonlyMap<PathBytes, OverlayEntry>
  readonly notes: readonly string[]
}

const mostReadings = 3

/**
 * Finds the states of the drafts, each as closely as its size allows. A file that changes meanwhile is read again; one
 * that goes on changing is uncertain.
 */
export async function hashDrafts(place: PrivateDirectory, work: DraftWork): Promise<HashedDrafts> {
  const first = await readDrafts(place, work)
  const entries = new Map(first.entries)
  let { changed } = first
  for (let reading = 1; reading < mostReadings && changed.length > 0; reading += 1) {
    const drafts = new Map([...work.drafts].filter(([path]) => changed.includes(path)))
    const next = await readDrafts(place, { ...work, drafts })
    for (const [path, entry] of next.entries) entries.set(path, entry)
    changed = next.changed
  }
  for (const path of changed) {
    const entry = entries.get(path)
    if (entry !== undefined) entries.set(path, { ...entry, uncertain: unsteady })
  }
  const notes = changed.map((path) => `${displayPath(path)} changed while the snapshot was taken.`)
  return { entries, notes: [...notes, ...first.notes] }
}

const unsteady = 'It went on changing while it was read.'

interface Reading extends HashedDrafts {
  /** What was written while it was read. */
  readonly changed: readonly PathBytes[]
}

async function readDrafts(place: PrivateDirectory, work: DraftWork): Promise<Reading> {
  const { repository, conversion, drafts } = work
  const { candidates, entries } = sortOut(place, work)
  const used = place.contents === undefined ? 0 : keptBytes(place.contents)
  const tiers = shareTiers(candidates, used < work.known.budget)
  const paths = conversion.attributes ? candidates.map(({ path }) => path) : []
  const { objectFormat } = repository
  const [kept, identified, filters] = await Promise.all([
    hashAndKeep(place, tiers.keep, { objectFormat, byIndex: conversion.byIndex }),
    hashOnly(place, tiers.identify, objectFormat),
    filtersOf(place, paths),
  ])
  const changed: PathBytes[] = []
  for (const candidate of candidates) {
    const { path } = candidate
    const head = drafts.get(path)?.head ?? null
    const raw = kept.get(path) ?? identifiedState(identified.get(path), candidate, repository)
    const filter = filters.get(path)
    const context =
      filter === undefined
        ? null
        : { filter, top: place.top, objectFormat, configuration: repository.configuration }
    entries.set(path, await entryOf(candidate, { head, raw, keptOid: kept.get(path)?.oid, context }))
    const now = diskFile(place.top, path)
    if (now === null || !sameStat(now.stat, candidate.file.stat)) changed.push(path)
  }
  return {
    entries,
    changed,
    notes: budgetNotes(used, work.known.budget),
  }
}

function sortOut(place: PrivateDirectory, { drafts, known, conversion }: DraftWork) {
  const candidates: Candidate[] = []
  const entries = new Map<PathBytes, OverlayEntry>()
  const earlier = conversion.attributes || conversion.byIndex ? null : comparable(known)
  for (const [path, { head, index, tracked }] of drafts) {
    const file = diskFile(place.top, path)
    const disk = file === null ? null : unchangedSince(file, earlier?.overlay.get(path), known.takenAt)
    if (file === null || disk !== null) entries.set(path, { head, disk, tracked, staged: false })
    else candidates.push({ path, file, index, tracked })
  }
  return { candidates, entries }
}

// What git makes of a content depends on its settings.
function comparable({ earlier, settings }: Known): RepositoryState | null {
  if (earlier === null || earlier.contents === undefined) return null
  return JSON.stringify(earlier.settings) === JSON.stringify(settings) ? earlier : null
}

function unchangedSince(file: DiskFile, entry: OverlayEntry | undefined, takenAt: number): DiskState | null {
  if (!entry?.disk?.stat || entry.disk.oid === null || entry.uncertain !== undefined || entry.disk.unkept) {
    return null
  }
  const isSettled = Math.max(file.stat.modified, file.stat.changed) < takenAt - settled
  return isSettled && sameStat(file.stat, entry.disk.stat) ? entry.disk : null
}

function budgetNotes(used: number, budget: number): string[] {
  if (used < budget * warnedFrom) return []
  const size = `The contents kept for this project's reports take ${megabytes(used)} of ${megabytes(budget)} MB`
  const effect = used < budget ? '' : ', so those of further files are not kept: their lines are not counted'
  return [`${size}${effect}. What no task needs any more goes with: waymark tidy`]
}

function megabytes(bytes: number): number {
  return Math.round(bytes / (1024 * 1024))
}

const warnedFrom = 0.8

function identifiedState(
  oid: string | undefined,
  { file, index }: Candidate,
  { configuration }: Repository,
): GitState | null {
  if (oid === undefined) return null
  const fileMode = configured(configuration, 'core.filemode')
  const byDisk = file.kind === 'link' || fileMode === undefined || isTrue(fileMode)
  return { mode: byDisk ? file.mode : (index?.mode ?? '100644'), oid }
}

interface Found {
  readonly head: GitState | null
  /** Null where the file was not read. */
  readonly raw: GitState | null
  readonly keptOid: string | undefined
  readonly context: Parameters<typeof filteredState>[2] | null
}

async function entryOf(candidate: Candidate, found: Found): Promise<OverlayEntry> {
  const { file, tracked } = candidate
  const { head, raw, keptOid, context } = found
  if (raw === null) {
    const uncertain = 'Its content was not read: only its size and times are known.'
    const disk = { mode: file.mode, oid: null, stat: file.stat }
    return { head, disk, tracked, staged: false, uncertain }
  }
  const filtered = context === null ? { state: raw } : await filteredState(raw, candidate, context)
  const unkept = keptOid === filtered.state.oid ? {} : { unkept: true as const }
  const doubt = filtered.uncertain === undefined ? {} : { uncertain: filtered.uncertain }
  return {
    head,
    disk: { ...filtered.state, stat: file.stat, ...unkept },
    tracked,
    staged: false,
    ...doubt,
  }
}
