import { configured, isTrue } from './configuration.ts'
import type { Conversion } from './conversion.ts'
import { diskFile, sameStat } from './disk.ts'
import { filteredState, filtersOf } from './filters.ts'
import { type Candidate, hashAndKeep, hashOnly, shareTiers } from './hashing.ts'
import { displayPath, type PathBytes } from './path-bytes.ts'
import type { PrivateDirectory } from './private-directory.ts'
import type { Repository } from './repository.ts'
import type { OverlayEntry } from './state.ts'
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
}

export interface HashedDrafts {
  readonly entries: ReadonlyMap<PathBytes, OverlayEntry>
  readonly notes: readonly string[]
}

/** Finds the states of the drafts, each as closely as its size allows. */
export async function hashDrafts(place: PrivateDirectory, work: DraftWork): Promise<HashedDrafts> {
  const { repository, conversion, drafts } = work
  const { candidates, entries } = sortOut(place, drafts)
  const tiers = shareTiers(candidates)
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
    notes: changed.map((path) => `${displayPath(path)} changed while the snapshot was taken.`),
  }
}

function sortOut(place: PrivateDirectory, drafts: DraftWork['drafts']) {
  const candidates: Candidate[] = []
  const entries = new Map<PathBytes, OverlayEntry>()
  for (const [path, { head, index, tracked }] of drafts) {
    const file = diskFile(place.top, path)
    if (file !== null) candidates.push({ path, file, index, tracked })
    else entries.set(path, { head, disk: null, tracked, staged: false })
  }
  return { candidates, entries }
}

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
