import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'
import { isSecretFile } from '../kernel/secret-files.ts'
import { readBlobs } from './blobs.ts'
import { configuredValue, isTrue } from './configuration.ts'
import { type Conversion, conversionOf, filteredState, filtersOf } from './conversion.ts'
import {
  blobId,
  blobIdOf,
  CarefulDisk,
  contentAt,
  type DiskFile,
  diskFile,
  isSameStat,
  rawBlobId,
} from './disk.ts'
import { type HiddenEntry, type IndexEntries, readIndexFile } from './index-file.ts'
import { PackWriter } from './pack.ts'
import { diskPath, displayPath, nulInput, nulRecords, type PathBytes, quotePath } from './paths.ts'
import { callKeepingObjects, type PrivateDirectory, privateCall } from './private-directory.ts'
import { countStoredBytes } from './private-store.ts'
import { git, runGit } from './process.ts'
import { type DiskState, type IgnoredFile, maxKeptFileBytes, type OverlayEntry } from './recorded-state.ts'
import type { Repository } from './repository.ts'
import type { GitState, GitStatus } from './status.ts'
import { headStates } from './trees.ts'
import { attributesObstacle, obstacleFailure } from './unsafe-files.ts'

export interface Overlay {
  readonly entries: Map<PathBytes, OverlayEntry>
  readonly notes: readonly string[]
  /** A digest of the paths outside a sparse checkout that are not on disk. */
  readonly leftOut: string
}

/** The scan of a work tree that its overlay is read from. */
export interface WorkTreeScan {
  readonly status: GitStatus
  readonly index: IndexEntries
  /** Files that `status` may take for unchanged by their times. */
  readonly doubtful: readonly HiddenEntry[]
  /** Files that are compared as they are on disk, not as git would store them. */
  readonly raw: readonly PathBytes[]
  readonly cache: OverlayCache
  /** Files that did not change since the earlier snapshot. */
  readonly unchanged: ReadonlyMap<PathBytes, DiskState>
}

const submoduleMode = '160000'

/** Reads every path whose state on disk differs from HEAD. A moved submodule's commit is filled in later. */
export async function readOverlay(
  place: PrivateDirectory,
  repository: Repository,
  scan: WorkTreeScan,
): Promise<Overlay> {
  const entries = new Map<PathBytes, OverlayEntry>()
  const drafts = new Map<PathBytes, OverlayDraft>()
  const disk = new CarefulDisk(place.top)
  addTrackedEntries(scan.status, { entries, drafts, disk })
  await settleDoubtful(place, repository, { status: scan.status, drafts, entries })
  const hidden = [...scan.index.hidden, ...scan.doubtful]
  const leftOut = addHiddenEntries(hidden, repository, { entries, drafts, disk })
  await settleRaw(place, repository, { raw: scan.raw, entries, drafts, disk })
  for (const path of scan.status.untracked) {
    if (path.endsWith('/')) continue
    drafts.set(path, { head: entries.get(path)?.head ?? null, index: null, tracked: false })
  }
  settleRemovedFromIndex(repository, { entries, drafts, disk, top: place.top })
  const conversion = conversionOf(repository, scan, place.environment)
  const { cache, unchanged } = scan
  const hashed = await hashDrafts(place, { repository, conversion, drafts, cache, unchanged })
  for (const [path, entry] of hashed.entries) {
    const index = drafts.get(path)?.index?.oid
    const isOther = index !== undefined && index !== entry.head?.oid && index !== entry.disk?.oid
    entries.set(path, isOther ? { ...entry, index } : entry)
  }
  return { entries, notes: hashed.notes, leftOut }
}

interface OverlayWork {
  readonly entries: Map<PathBytes, OverlayEntry>
  readonly drafts: Map<PathBytes, OverlayDraft>
}

function addTrackedEntries(
  status: GitStatus,
  { entries, drafts, disk }: OverlayWork & { readonly disk: CarefulDisk },
): void {
  for (const { path, head, index, onDisk } of status.tracked) {
    if (index?.mode === submoduleMode && onDisk === 'different' && disk.file(path) !== null) {
      // A file or a link replaced the submodule.
      drafts.set(path, { head, index: null, tracked: true })
    } else if (index?.mode === submoduleMode && onDisk === 'different') {
      entries.set(path, { head, disk: { mode: submoduleMode, oid: null }, tracked: true, staged: false })
    } else if (onDisk === 'different') drafts.set(path, { head, index, tracked: true })
    else {
      const disk = onDisk === 'absent' ? null : index
      const isOther = onDisk === 'absent' && index !== null && index.oid !== head?.oid
      const indexOid = isOther ? { index: index.oid } : {}
      entries.set(path, { head, disk, tracked: true, staged: onDisk === 'as in the index', ...indexOid })
    }
  }
}

// `status` does not report a conflict's state in HEAD. For a file that was added with `add -N` and then deleted, it
// reports an empty file in HEAD. HEAD's tree has the true states.
async function settleDoubtful(
  place: PrivateDirectory,
  repository: Repository,
  { status, drafts, entries }: OverlayWork & { readonly status: GitStatus },
): Promise<void> {
  const empty = blobId(repository.objectFormat, Buffer.alloc(0))
  const phantoms = status.tracked.filter(({ onDisk, head }) => onDisk === 'absent' && head?.oid === empty)
  const doubtful = [...status.conflicts, ...phantoms].map(({ path }) => path)
  if (doubtful.length === 0) return
  const heads = await headStates(place, repository, doubtful)
  for (const { path } of phantoms) {
    if (!heads.has(path)) entries.delete(path)
  }
  for (const { path, side } of status.conflicts) {
    drafts.set(path, { head: heads.get(path) ?? null, index: side, tracked: true })
  }
}

// `status` reports these as unchanged whatever is on disk. A missing file outside a sparse checkout counts as equal to
// HEAD: it was never meant to be on disk.
function addHiddenEntries(
  hidden: readonly HiddenEntry[],
  repository: Repository,
  { entries, drafts, disk }: OverlayWork & { readonly disk: CarefulDisk },
): string {
  const leftOut = createHash('sha256')
  const sparse = isTrue(configuredValue(repository.configuration, 'core.sparsecheckout'))
  for (const { path, index: state, flag } of hidden) {
    if (drafts.has(path) || state.mode === submoduleMode) continue
    const head = entries.has(path) ? (entries.get(path)?.head ?? null) : state
    if (disk.file(path) !== null) {
      entries.delete(path)
      drafts.set(path, { head, index: state, tracked: true })
    } else if (!(sparse && flag === 'skip-worktree')) {
      entries.set(path, { head, disk: null, tracked: true, staged: false })
    } else leftOut.update(`${path}\0`)
  }
  return leftOut.digest('hex')
}

async function settleRaw(
  place: PrivateDirectory,
  repository: Repository,
  {
    raw,
    entries,
    drafts,
    disk,
  }: OverlayWork & { readonly raw: readonly PathBytes[]; readonly disk: CarefulDisk },
): Promise<void> {
  if (raw.length === 0) return
  const heads = await headStates(place, repository, raw)
  for (const path of raw) {
    if (drafts.has(path) || disk.file(path) === null) continue
    entries.delete(path)
    drafts.set(path, { head: heads.get(path) ?? null, index: null, tracked: true })
  }
}

// A path removed from the index may still be on disk, hidden by an ignore rule. Its content is not copied.
function settleRemovedFromIndex(
  repository: Repository,
  { entries, drafts, disk, top }: OverlayWork & { readonly disk: CarefulDisk; readonly top: string },
): void {
  for (const [path, entry] of entries) {
    if (entry.disk !== null || !entry.staged || drafts.has(path)) continue
    const file = disk.file(path)
    const oid = file === null ? null : rawBlobId(repository.objectFormat, top, path)
    if (file === null || oid === null) continue
    entries.set(path, {
      ...entry,
      tracked: false,
      disk: { mode: file.mode, oid, stat: file.stat, unkept: true },
    })
  }
}

/** A path whose state on disk is not read yet. */
export interface OverlayDraft {
  readonly head: GitState | null
  readonly index: GitState | null
  readonly tracked: boolean
}

export interface OverlayDraftWork {
  readonly repository: Repository
  readonly conversion: Conversion
  readonly drafts: ReadonlyMap<PathBytes, OverlayDraft>
  readonly cache: OverlayCache
  readonly unchanged: ReadonlyMap<PathBytes, DiskState>
}

/** The reusable entries of an earlier snapshot, and the limit for kept contents. */
export interface OverlayCache {
  /** Empty if settings that affect contents changed. */
  readonly earlier: ReadonlyMap<PathBytes, OverlayEntry>
  /** When the earlier snapshot began, by the clock of the file system. */
  readonly takenAt: number
  /** The most that contents may take, in bytes; null if none are kept. */
  readonly budget: number | null
}

// A clock may tick in steps of up to two seconds: a younger file may have changed again within the same tick.
const settled = 2_000

/**
 * The states of files that did not change since the earlier snapshot. They are read while git runs, to save time
 * afterwards.
 */
export async function unchangedFiles(
  top: string,
  cache: OverlayCache,
): Promise<ReadonlyMap<PathBytes, DiskState>> {
  const unchanged = new Map<PathBytes, DiskState>()
  let at = 0
  for (const path of cache.earlier.keys()) {
    const file = diskFile(top, path)
    const disk = file === null ? null : reusableDiskState(file, path, cache)
    if (disk !== null) unchanged.set(path, disk)
    at += 1
    if (at % perTurn === 0) await yieldToEventLoop()
  }
  return unchanged
}

/** The state of a file that did not change since the earlier snapshot; null if it must be read. */
export function reusableDiskState(file: DiskFile, path: PathBytes, cache: OverlayCache): DiskState | null {
  const entry = cache.earlier.get(path)
  if (!entry?.disk?.stat || entry.disk.oid === null || entry.uncertain !== undefined) return null
  const mayBeKept =
    cache.budget !== null && file.stat.size <= maxKeptFileBytes && !isSecretFile(displayPath(path))
  if (entry.disk.unkept && mayBeKept) return null
  const isSettled = Math.max(file.stat.modified, file.stat.changed) < cache.takenAt - settled
  return isSettled && isSameStat(file.stat, entry.disk.stat) ? entry.disk : null
}

export interface OverlayEntries {
  readonly entries: ReadonlyMap<PathBytes, OverlayEntry>
  readonly notes: readonly string[]
}

const maxReadings = 3

/**
 * Reads the states of the drafts, in as much detail as their size allows. A file that changes meanwhile is read again;
 * if it keeps changing, it is uncertain.
 */
async function hashDrafts(place: PrivateDirectory, work: OverlayDraftWork): Promise<OverlayEntries> {
  const first = await readDrafts(place, work)
  const entries = new Map(first.entries)
  let { changed } = first
  for (let reading = 1; reading < maxReadings && changed.length > 0; reading += 1) {
    const drafts = new Map([...work.drafts].filter(([path]) => changed.includes(path)))
    const next = await readDrafts(place, { ...work, drafts, unchanged: new Map() })
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

interface OverlayReadResult extends OverlayEntries {
  /** The files that changed while they were read. */
  readonly changed: readonly PathBytes[]
}

async function readDrafts(place: PrivateDirectory, work: OverlayDraftWork): Promise<OverlayReadResult> {
  const { repository, conversion, drafts } = work
  const { candidates, entries } = classifyDrafts(place, work)
  const { budget } = work.cache
  const used = place.contents === undefined ? 0 : countStoredBytes(place.contents)
  // If the conversion depends on the index, only an index shows the id that git would store.
  const tiers = shareTiers(candidates, budget === null ? conversion.byIndex : used < budget)
  const paths = conversion.attributes ? candidates.map(({ path }) => path) : []
  const { objectFormat } = repository
  const [kept, identified, filters] = await Promise.all([
    isPlain(conversion)
      ? storeUnconverted(place, tiers.keep, { objectFormat, isThere: keptObjectTest(work.cache) })
      : hashAndKeep(place, tiers.keep, { objectFormat, byIndex: conversion.byIndex }),
    hashOnly(place, tiers.identify, { objectFormat, conversion }),
    filtersOf(place, paths),
  ])
  await waitForNextTick(candidates)
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
    const keptOid = budget === null ? undefined : kept.get(path)?.oid
    entries.set(path, await entryOf(candidate, { head, raw, keptOid, context }))
    const now = diskFile(place.top, path)
    if (now === null || !isSameStat(now.stat, candidate.file.stat)) changed.push(path)
  }
  return {
    entries,
    changed,
    notes: budgetNotes(used, budget),
  }
}

// The longest time between two ticks of a file system's clock, in milliseconds.
const tick = 20

/** Waits until a later write gets a different time. */
async function waitForNextTick(candidates: readonly Candidate[]): Promise<void> {
  const last = candidates.reduce((latest, { file }) => Math.max(latest, file.stat.changed), 0)
  const left = last + tick - Date.now()
  if (left > 0 && left <= tick) await pause(left)
}

function classifyDrafts(place: PrivateDirectory, { drafts, unchanged, conversion }: OverlayDraftWork) {
  const candidates: Candidate[] = []
  const entries = new Map<PathBytes, OverlayEntry>()
  const isKnown = isPlain(conversion)
  for (const [path, { head, index, tracked }] of drafts) {
    // The stored content of a tracked file may depend on its content in the index.
    const disk = isKnown || index === null ? unchanged.get(path) : undefined
    const file = disk === undefined ? diskFile(place.top, path) : null
    if (file === null) entries.set(path, { head, disk: disk ?? null, tracked, staged: false })
    else candidates.push({ path, file, index, tracked })
  }
  return { candidates, entries }
}

/** Returns a test for the contents that the earlier snapshot has kept. */
export function keptObjectTest({ earlier }: OverlayCache): (oid: string) => boolean {
  let kept: Set<string> | null = null
  return (oid) => {
    kept ??= new Set(
      [...earlier.values()].flatMap(({ disk }) => (disk?.oid != null && !disk.unkept ? [disk.oid] : [])),
    )
    return kept.has(oid)
  }
}

function budgetNotes(used: number, budget: number | null): string[] {
  if (budget === null || used < budget * warnedFrom) return []
  const size = `The contents kept for this project's reports take ${megabytes(used)} of ${megabytes(budget)} MB`
  const effect = used < budget ? '' : ', so those of further files are not kept: their lines are not counted'
  return [`${size}${effect}. Remove unused contents with: waymark prune`]
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
  const fileMode = configuredValue(configuration, 'core.filemode')
  const byDisk = file.kind === 'link' || fileMode === undefined || isTrue(fileMode)
  return { mode: byDisk ? file.mode : (index?.mode ?? '100644'), oid }
}

interface OverlayLookup {
  readonly head: GitState | null
  /** Null if the file was not read. */
  readonly raw: GitState | null
  readonly keptOid: string | undefined
  readonly context: Parameters<typeof filteredState>[2] | null
}

async function entryOf(candidate: Candidate, lookup: OverlayLookup): Promise<OverlayEntry> {
  const { file, tracked } = candidate
  const { head, raw, keptOid, context } = lookup
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

/** A file on disk whose state must be read. */
export interface Candidate {
  readonly path: PathBytes
  readonly file: DiskFile
  readonly tracked: boolean
  /** The state in the index: git keeps line endings that the index already has. */
  readonly index: GitState | null
}

export interface CandidateTiers {
  /** Hashed, and the content kept for lines and renames. */
  readonly keep: readonly Candidate[]
  /** Hashed only: large files, and secret files, which are never copied. */
  readonly identify: readonly Candidate[]
  /** Too large to read: size and times stand for the content. */
  readonly glance: readonly Candidate[]
}

const megabyte = 1024 * 1024
const limits = {
  keptUntracked: { files: 20_000, bytes: 64 * megabyte },
  identified: { files: 200_000, bytes: 2048 * megabyte },
}

/** Decides in how much detail each file is read. */
function shareTiers(candidates: readonly Candidate[], mayKeep: boolean): CandidateTiers {
  const keep: Candidate[] = []
  const identify: Candidate[] = []
  const glance: Candidate[] = []
  const kept = createAllowance(limits.keptUntracked)
  const identified = createAllowance(limits.identified)
  for (const candidate of candidates) {
    const { size } = candidate.file.stat
    const isOpen = mayKeep && !isSecretFile(displayPath(candidate.path))
    if (isOpen && size <= maxKeptFileBytes && (candidate.tracked || kept(size))) keep.push(candidate)
    else if (identified(size)) identify.push(candidate)
    else glance.push(candidate)
  }
  return { keep, identify, glance }
}

/** Whether git stores files unchanged. */
function isPlain({ attributes, byIndex }: Conversion): boolean {
  return !(attributes || byIndex)
}

// About ten milliseconds: a server goes on answering meanwhile.
const perTurn = 100

/** States of files whose content is kept as it is on disk. Unreadable files are left out. */
async function storeUnconverted(
  place: PrivateDirectory,
  candidates: readonly Candidate[],
  { objectFormat, isThere }: { readonly objectFormat: string; readonly isThere: (oid: string) => boolean },
): Promise<Map<PathBytes, GitState>> {
  const obstacle = attributesObstacle(
    place.top,
    candidates.map(({ path }) => displayPath(path)),
  )
  if (obstacle !== null) throw obstacleFailure(obstacle)
  const pack = new PackWriter(place.contents ?? join(place.directory, 'objects'), objectFormat, isThere)
  const states = new Map<PathBytes, GitState>()
  for (const [at, { path, file }] of candidates.entries()) {
    if (at % perTurn === perTurn - 1) await yieldToEventLoop()
    const content = contentAt(place.top, path, file)
    if (content !== null)
      states.set(path, { mode: file.mode, oid: await pack.add({ type: 'blob', content }) })
  }
  await pack.close()
  return states
}

/** States of files whose content is kept as git stores it, through a small index of these paths only. */
async function hashAndKeep(
  place: PrivateDirectory,
  candidates: readonly Candidate[],
  { objectFormat, byIndex }: { readonly objectFormat: string; readonly byIndex: boolean },
): Promise<Map<PathBytes, GitState>> {
  if (candidates.length === 0) return new Map()
  const small = { ...place, index: join(place.directory, 'overlay.index') }
  const plain = ['-c', 'core.sparseCheckout=false', '-c', 'core.bigFileThreshold=1']
  const seeds = byIndex ? indexRecords(candidates) : []
  if (seeds.length > 0) {
    await git([...plain, 'update-index', '-z', '--index-info'], privateCall(small, nulInput(seeds)))
  }
  const add = [...plain, 'update-index', '-z', '--add', '--remove', '--replace', '--stdin']
  const paths = candidates.map(({ path }) => path)
  const added = await runGit(add, callKeepingObjects(small, nulInput(paths)))
  // A file may be unreadable, or have become shorter while git read it.
  if (added.code !== 0)
    await git(add, callKeepingObjects(small, nulInput(readablePaths(place.top, candidates))))
  const states = smallIndex(small.index, objectFormat)
  rmSync(small.index, { force: true })
  return states
}

function smallIndex(path: string, objectFormat: string): Map<PathBytes, GitState> {
  const states = new Map<PathBytes, GitState>()
  // If all files were deleted meanwhile, git writes no index.
  if (!existsSync(path)) return states
  const read = readIndexFile(readFileSync(path), objectFormat, (record) => {
    states.set(record.path, record.state())
  })
  if (!read) throw new Error(`git wrote ${path} in an unexpected version.`)
  return states
}

/** Ids of files whose content is not kept. */
async function hashOnly(
  place: PrivateDirectory,
  candidates: readonly Candidate[],
  { objectFormat, conversion }: { readonly objectFormat: string; readonly conversion: Conversion },
): Promise<Map<PathBytes, string>> {
  const links = candidates.filter(({ file }) => file.kind === 'link')
  const files = candidates.filter(({ file }) => file.kind === 'file')
  const readable = readablePaths(place.top, files)
  const ids = new Map<PathBytes, string>()
  for (const { path } of links) {
    ids.set(path, blobId(objectFormat, readlinkSync(diskPath(place.top, path), { encoding: 'buffer' })))
  }
  if (isPlain(conversion)) {
    for (const path of readable) {
      const oid = await blobIdOf(objectFormat, place.top, path)
      if (oid !== null) ids.set(path, oid)
    }
    return ids
  }
  if (readable.length === 0) return ids
  const input = Buffer.from(readable.map((path) => `${quotePath(path)}\n`).join(''), 'latin1')
  const output = await git(['hash-object', '--stdin-paths'], privateCall(place, input))
  for (const [at, oid] of output.toString('latin1').trimEnd().split('\n').entries()) {
    const path = readable[at]
    if (path !== undefined) ids.set(path, oid)
  }
  for (const path of await pathsKeepingLineEndings(place, files)) {
    const oid = await blobIdOf(objectFormat, place.top, path)
    if (oid !== null) ids.set(path, oid)
  }
  return ids
}

/** The files whose line endings git keeps: the index has CRLF and no attribute decides. */
async function pathsKeepingLineEndings(
  place: PrivateDirectory,
  files: readonly Candidate[],
): Promise<readonly PathBytes[]> {
  const indexed = files.filter(({ index, file }) => index !== null && file.stat.size <= maxKeptFileBytes)
  const contents = await readBlobs(
    place,
    indexed.flatMap(({ index }) => index?.oid ?? []),
  )
  const withCrlf = indexed.filter(({ index }) => contents.get(index?.oid ?? '')?.includes('\r\n') === true)
  if (withCrlf.length === 0) return []
  const question = ['check-attr', '-z', '--stdin', 'text', 'eol']
  const input = nulInput(withCrlf.map(({ path }) => path))
  const records = nulRecords(await git(question, privateCall(place, input)))
  const values = new Map<string, string>()
  for (let at = 0; at + 2 < records.length; at += 3) {
    const [path, name, value = ''] = records.slice(at, at + 3)
    values.set(`${name} ${path}`, value)
  }
  return withCrlf
    .map(({ path }) => path)
    .filter((path) => {
      const [text, eol] = [values.get(`text ${path}`) ?? '', values.get(`eol ${path}`) ?? '']
      // With `text=auto` git keeps the line endings of the index, whatever `eol` says.
      return text === 'auto' || (text !== 'set' && ['', 'unspecified', 'unset'].includes(eol))
    })
}

function indexRecords(candidates: readonly Candidate[]): string[] {
  return candidates.flatMap(({ path, index }) => {
    return index === null || index.mode === '160000' ? [] : [`${index.mode} ${index.oid}\t${path}`]
  })
}

function createAllowance(limit: {
  readonly files: number
  readonly bytes: number
}): (size: number) => boolean {
  let files = 0
  let bytes = 0
  return (size) => {
    if (files + 1 > limit.files || bytes + size > limit.bytes) return false
    files += 1
    bytes += size
    return true
  }
}

function readablePaths(top: string, candidates: readonly Candidate[]): PathBytes[] {
  return candidates
    .filter(({ path, file }) => file.kind === 'link' || isReadable(top, path))
    .map(({ path }) => path)
}

function isReadable(top: string, path: PathBytes): boolean {
  try {
    accessSync(diskPath(top, path), constants.R_OK)
    return true
  } catch {
    return false
  }
}

export interface IgnoredEntries {
  readonly files: Map<PathBytes, IgnoredFile>
  /** Folders whose content is not read. */
  readonly folders: readonly PathBytes[]
}

const maxHashedFiles = 200
const maxHashedBytes = 1024 * 1024
const maxFiles = 5_000

/** Ignored single files such as `.env`, hashed if they are few and small. Nothing is copied. */
export function readIgnored(
  top: string,
  objectFormat: string,
  ignored: readonly PathBytes[],
): IgnoredEntries {
  const disk = new CarefulDisk(top)
  const files = new Map<PathBytes, IgnoredFile>()
  const folders = ignored.filter((path) => path.endsWith('/'))
  let hashed = 0
  for (const path of ignored) {
    if (path.endsWith('/') || files.size >= maxFiles) continue
    const file = disk.file(path)
    if (file === null) continue
    const isHashed = hashed < maxHashedFiles && file.stat.size <= maxHashedBytes
    if (isHashed) hashed += 1
    files.set(path, {
      mode: file.mode,
      oid: isHashed ? rawBlobId(objectFormat, top, path) : null,
      stat: file.stat,
    })
  }
  return { files, folders }
}
