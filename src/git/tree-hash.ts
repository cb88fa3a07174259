import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { removeFromState } from '../kernel/files/state-folder.ts'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'
import { setNewest } from '../kernel/limited-map.ts'
import { isIncluded, type PathBytes } from './paths.ts'
import type { TreeContent } from './ports/work-tree.ts'
import type { GitEnvironment } from './process.ts'
import {
  latestState,
  type OverlayEntry,
  type RepositoryState,
  rememberLatest,
  type WorkTreeState,
} from './recorded-state.ts'
import { locateFolder, standInRepository } from './repository.ts'
import { recordSnapshot, type SnapshotContext } from './snapshot.ts'
import type { GitState } from './status.ts'
import { emptyTree, folderMode, formatOf, PatchedTree, readTrees } from './trees.ts'

/** The hash of a work tree's content, and its paths, relative to its top. */
interface HashedTree {
  readonly hash: string
  readonly top: string
  readonly paths: readonly string[]
}

/**
 * The hash of a work tree's content: the id of the tree that git would write of everything on disk, without writing it.
 * Uses the directory for temporary files.
 */
export async function hashedTree(
  folder: string,
  directory: string,
  { stateFolder, environment }: Pick<SnapshotContext, 'stateFolder' | 'environment'>,
): Promise<HashedTree> {
  let keep = false
  try {
    const location = await locateFolder(folder, environment)
    const { engine } = location
    const repository = engine === 'git' ? location.repository : standInRepository(location.folder, directory)
    const isFirst = engine === 'checksum' && (await latestState(stateFolder, location.folder)) === null
    const request = { directory, stateFolder, environment, engine, repositoryMissing: false, budget: null }
    const { state, paths } = await recordSnapshot(repository, request)
    const hash = await workTreeId(state, environment)
    // Without git the first snapshot is kept, so that the next one need not read every file.
    keep = isFirst
    if (keep) rememberLatest(stateFolder, location.folder, directory)
    return { hash, top: state.top, paths }
  } finally {
    if (!keep) removeFromState(stateFolder, directory)
  }
}

// From the innermost repository outwards, so that each includes the content of its nested ones.
async function workTreeId(state: WorkTreeState, environment: GitEnvironment): Promise<string> {
  const inside = new Map<PathBytes, string | null>()
  for (const repository of state.repositories.toSorted((a, b) => b.prefix.length - a.prefix.length)) {
    const nested = [...inside].filter(([prefix]) => prefix.startsWith(repository.prefix))
    for (const [prefix] of nested) inside.delete(prefix)
    inside.set(repository.prefix, await repositoryId(repository, nested, { state, environment }))
  }
  return inside.get('') ?? emptyTree(state.objectFormat)
}

// A nested repository counts as its folder on disk, not as its checked-out commit.
async function repositoryId(
  repository: RepositoryState,
  nested: readonly (readonly [PathBytes, string | null])[],
  { state, environment }: { readonly state: WorkTreeState; readonly environment: GitEnvironment },
): Promise<string | null> {
  const { prefix, tree, overlay } = repository
  const objectFormat = formatOf(tree)
  const changes = new Map<PathBytes, GitState | null>()
  for (const [path, entry] of overlay) changes.set(path, stateOf(entry, objectFormat))
  for (const [path, oid] of nested) {
    changes.set(path.slice(prefix.length, -1), oid === null ? null : { mode: folderMode, oid })
  }
  const partial = state.excluded
    .filter((folder) => folder.startsWith(prefix) && folder !== prefix)
    .map((folder) => folder.slice(prefix.length, -1))
  // The id of a clean tree without the excluded folders never changes, so it is cached.
  const clean = changes.size === 0 ? JSON.stringify([tree, prefix, state.excluded]) : null
  const cached = clean === null ? undefined : cleanIds.get(clean)
  if (cached !== undefined) return cached
  const patched = new PatchedTree({
    objectFormat,
    changes,
    partial,
    includes: (path) => isIncluded(prefix + path, state.excluded),
  })
  const place = {
    directory: repository.directory,
    top: state.top,
    index: join(repository.directory, 'no-index'),
    objects: [repository.objects],
    environment,
  }
  const id = patched.id(await readTrees(place, tree, patched.folders()))
  if (clean !== null) setNewest(cleanIds, maxIds, clean, id)
  return id
}

const maxIds = 200
const cleanIds = new Map<string, string | null>()

function stateOf({ disk, tracked, staged }: OverlayEntry, objectFormat: string): GitState | null {
  // Removed from the index and now ignored: no longer part of the content.
  if (disk === null || (!tracked && staged)) return null
  const { mode, oid, stat } = disk
  // Too large to read: size and times stand for the content.
  const standIn = () =>
    createHash(objectFormat)
      .update(JSON.stringify(stat ?? null))
      .digest('hex')
  return { mode, oid: oid ?? standIn() }
}

const atOnce = 500

/**
 * A stamp of each file that no program can restore after a write, a rename or a replacement: its inode and change time.
 * A folder has none.
 */
export async function stampsOf(top: string, paths: readonly string[]): Promise<TreeContent['stamps']> {
  const stamps: [string, string][] = []
  for (const [at, path] of paths.entries()) {
    stamps.push([path, stampOf(join(top, path))])
    if (at % atOnce === atOnce - 1) await yieldToEventLoop()
  }
  return stamps
}

function stampOf(path: string): string {
  try {
    const { ino, ctimeNs, size, mode } = lstatSync(path, { bigint: true })
    return (mode & 0o170000n) === 0o040000n ? 'folder' : `${ino} ${ctimeNs} ${size} ${mode}`
  } catch {
    return 'absent'
  }
}
