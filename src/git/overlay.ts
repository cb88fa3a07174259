import { createHash } from 'node:crypto'
import { configured, isTrue } from './configuration.ts'
import { conversionOf } from './conversion.ts'
import { blobId, CarefulDisk, rawBlobId } from './disk.ts'
import { type Draft, hashDrafts, type Known } from './draft.ts'
import { headStates } from './head-states.ts'
import type { HiddenEntry, IndexEntries } from './index-entries.ts'
import type { PathBytes } from './path-bytes.ts'
import type { PrivateDirectory } from './private-directory.ts'
import type { Repository } from './repository.ts'
import type { OverlayEntry } from './state.ts'
import type { Status } from './status.ts'

export interface Overlay {
  readonly entries: Map<PathBytes, OverlayEntry>
  readonly notes: readonly string[]
  /** Stands for the paths outside a sparse checkout that are not on disk. */
  readonly leftOut: string
}

/** What was seen of a work tree before its overlay is read. */
export interface Seen {
  readonly status: Status
  readonly index: IndexEntries
  /** Files that `status` may take for unchanged by their times. */
  readonly doubtful: readonly HiddenEntry[]
  /** Files that are compared as they stand on disk, not as git would store them. */
  readonly raw: readonly PathBytes[]
  readonly known: Known
}

const submoduleMode = '160000'

/** Every path whose state on disk is not simply HEAD's, with that state. A moved submodule's commit is left open. */
export async function readOverlay(
  place: PrivateDirectory,
  repository: Repository,
  seen: Seen,
): Promise<Overlay> {
  const entries = new Map<PathBytes, OverlayEntry>()
  const drafts = new Map<PathBytes, Draft>()
  const disk = new CarefulDisk(place.top)
  settleTracked(seen.status, { entries, drafts })
  await settleDoubtful(place, repository, { status: seen.status, drafts, entries })
  const hidden = [...seen.index.hidden, ...seen.doubtful]
  const leftOut = settleHidden(hidden, repository, { entries, drafts, disk })
  await settleRaw(place, repository, { raw: seen.raw, entries, drafts, disk })
  for (const path of seen.status.untracked) {
    if (path.endsWith('/')) continue
    drafts.set(path, { head: entries.get(path)?.head ?? null, index: null, tracked: false })
  }
  settleRemovedFromIndex(repository, { entries, drafts, disk, top: place.top })
  const conversion = conversionOf(repository, seen, place.environment)
  const hashed = await hashDrafts(place, { repository, conversion, drafts, known: seen.known })
  for (const [path, entry] of hashed.entries) entries.set(path, entry)
  return { entries, notes: hashed.notes, leftOut }
}

interface Work {
  readonly entries: Map<PathBytes, OverlayEntry>
  readonly drafts: Map<PathBytes, Draft>
}

function settleTracked(status: Status, { entries, drafts }: Work): void {
  for (const { path, head, index, onDisk } of status.tracked) {
    if (index?.mode === submoduleMode && onDisk === 'different') {
      entries.set(path, { head, disk: { mode: submoduleMode, oid: null }, tracked: true, staged: false })
    } else if (onDisk === 'different') drafts.set(path, { head, index, tracked: true })
    else {
      const disk = onDisk === 'absent' ? null : index
      entries.set(path, { head, disk, tracked: true, staged: onDisk === 'as in the index' })
    }
  }
}

// `status` does not say what HEAD has of a conflict, and says that HEAD has an empty file where one was added
// by intent only (`add -N`) and deleted again. HEAD's tree knows.
async function settleDoubtful(
  place: PrivateDirectory,
  repository: Repository,
  { status, drafts, entries }: Work & { readonly status: Status },
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

// `status` takes these as unchanged whatever is on disk. A file outside a sparse checkout that is not there
// counts as HEAD's: it was never meant to be on disk.
function settleHidden(
  hidden: readonly HiddenEntry[],
  repository: Repository,
  { entries, drafts, disk }: Work & { readonly disk: CarefulDisk },
): string {
  const leftOut = createHash('sha256')
  const sparse = isTrue(configured(repository.configuration, 'core.sparsecheckout'))
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
  { raw, entries, drafts, disk }: Work & { readonly raw: readonly PathBytes[]; readonly disk: CarefulDisk },
): Promise<void> {
  if (raw.length === 0) return
  const heads = await headStates(place, repository, raw)
  for (const path of raw) {
    if (drafts.has(path) || disk.file(path) === null) continue
    entries.delete(path)
    drafts.set(path, { head: heads.get(path) ?? null, index: null, tracked: true })
  }
}

// A path taken out of the index may still be on disk, hidden by an ignore rule. Its content is not copied.
function settleRemovedFromIndex(
  repository: Repository,
  { entries, drafts, disk, top }: Work & { readonly disk: CarefulDisk; readonly top: string },
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
