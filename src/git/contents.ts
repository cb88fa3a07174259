import { existsSync } from 'node:fs'
import { isSecretFile } from '../kernel/secret-files.ts'
import { readBlobs } from './blobs.ts'
import { comparisonPlace } from './comparison.ts'
import { copyPlace, headsOf, repositoryAt } from './copies.ts'
import { type PathBytes, pathBytes } from './paths.ts'
import type { FileState, SnapshotContents, SnapshotRef, StoredContent } from './ports/work-tree.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { type GitEnvironment, git } from './process.ts'
import { loadState, type RepositoryState, type WorkTreeState } from './recorded-state.ts'

/** Reads the kept contents of files in snapshots. Runs nothing that a repository configures. */
export function snapshotContents(environment: GitEnvironment): SnapshotContents {
  return {
    states: async (place, paths) => {
      const state = await loadState(place.directory)
      return state === null ? null : fileStates(state, paths, environment)
    },
    heldPaths: async (from, place, paths) => {
      const [before, state] = await Promise.all([loadState(from.directory), loadState(place.directory)])
      return state === null ? null : heldContents(before, state, { paths, environment })
    },
    read: async (places, ids, most, source = 'all') => {
      const wanted = [...new Set(ids)]
      const place = wanted.length === 0 ? null : await placeHoldingAll(places, environment, source)
      return place === null ? new Map() : readContents(place, wanted, most)
    },
  }
}

async function fileStates(
  state: WorkTreeState,
  paths: readonly string[],
  environment: GitEnvironment,
): Promise<ReadonlyMap<string, FileState | null>> {
  const states = new Map<string, FileState | null>()
  const asCommitted = new Map<RepositoryState, string[]>()
  for (const path of paths) {
    const bytes: PathBytes = pathBytes(path)
    const repository = repositoryAt(state, bytes)
    if (repository === undefined) continue
    const inside = bytes.slice(repository.prefix.length)
    const entry = repository.overlay.get(inside)
    if (entry !== undefined) {
      const { disk } = entry
      states.set(path, disk && stateOf(path, disk, disk.unkept !== true))
      continue
    }
    const ignored = repository.ignoredFiles.get(inside)
    if (ignored !== undefined) states.set(path, stateOf(path, { mode: '100644', oid: ignored.oid }, true))
    else asCommitted.set(repository, [...(asCommitted.get(repository) ?? []), path])
  }
  const place = readable(copyPlace(state, environment))
  for (const [repository, some] of asCommitted) {
    const heads = await headsOf(place, repository, some)
    for (const path of some) {
      const head = heads.get(path)
      const inside = pathBytes(path).slice(repository.prefix.length)
      if (head === undefined && repository.ignoredFolders.some((folder) => inside.startsWith(folder)))
        continue
      states.set(path, head === undefined ? null : stateOf(path, head, true))
    }
  }
  return states
}

async function heldContents(
  before: WorkTreeState | null,
  state: WorkTreeState,
  { paths, environment }: { readonly paths: readonly string[]; readonly environment: GitEnvironment },
): Promise<ReadonlyMap<string, string | null>> {
  const held = new Map<string, string | null>()
  for (const path of paths) {
    const bytes: PathBytes = pathBytes(path)
    const repository = repositoryAt(state, bytes)
    const entry = repository?.overlay.get(bytes.slice(repository.prefix.length))
    if (!entry) {
      held.set(path, null)
      continue
    }
    const earlier = before && (await headBefore(before, path, environment))
    const isOther = (oid: string | undefined) =>
      oid !== undefined && oid !== earlier && oid !== entry.disk?.oid
    const ids = [entry.head?.oid, entry.index].map((oid) => (isOther(oid) ? oid : ''))
    held.set(path, ids.some(Boolean) ? ids.join(' ') : null)
  }
  return held
}

async function headBefore(
  state: WorkTreeState,
  path: string,
  environment: GitEnvironment,
): Promise<string | undefined> {
  const bytes: PathBytes = pathBytes(path)
  const repository = repositoryAt(state, bytes)
  if (repository === undefined) return undefined
  const entry = repository.overlay.get(bytes.slice(repository.prefix.length))
  if (entry !== undefined) return entry.head?.oid
  const place = readable(copyPlace(state, environment))
  return (await headsOf(place, repository, [path])).get(path)?.oid
}

/** Contents can be read even if the work tree was removed. */
function readable(place: PrivateDirectory): PrivateDirectory {
  return existsSync(place.top) ? place : { ...place, top: place.directory }
}

function stateOf(
  path: string,
  { oid, mode }: { readonly oid: string | null; readonly mode: string },
  isKept: boolean,
): FileState {
  if (isKept && !isSecretFile(path)) return { id: oid, mode }
  return { id: null, mode, ...(oid !== null && { hash: oid }) }
}

/** A directory that reads the contents of all these snapshots; null if all are gone. */
async function placeHoldingAll(
  places: readonly SnapshotRef[],
  environment: GitEnvironment,
  source: 'all' | 'kept',
): Promise<PrivateDirectory | null> {
  const directories = [...new Set(places.map(({ directory }) => directory))]
  const states = (await Promise.all(directories.map(loadState))).filter((state) => state !== null)
  const [first] = states
  if (first === undefined) return null
  const repositories = states.flatMap((state) => state.repositories)
  const place = readable(comparisonPlace({ from: { ...first, repositories }, to: first }, environment))
  if (source === 'all') return place
  // A repository's own objects may contain committed secrets.
  const own = new Set(repositories.map(({ objects }) => objects))
  return { ...place, objects: place.objects.filter((path) => !own.has(path)) }
}

async function readContents(
  place: PrivateDirectory,
  ids: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, StoredContent>> {
  const contents = new Map<string, StoredContent>()
  for (const { id, size } of await sizesOf(place, ids)) {
    if (size > most) contents.set(id, { bytes: null, size })
    else contents.set(id, { bytes: new Uint8Array(), size })
  }
  const short = [...contents].filter(([, { bytes }]) => bytes !== null).map(([id]) => id)
  if (short.length === 0) return contents
  for (const [id, bytes] of await readBlobs(place, short)) contents.set(id, { bytes, size: bytes.length })
  return contents
}

async function sizesOf(place: PrivateDirectory, ids: readonly string[]) {
  const question = ['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)', '--buffer']
  const output = await git(question, privateCall(place, listOf(ids)))
  return output
    .toString('latin1')
    .split('\n')
    .flatMap((line) => {
      const [id = '', type, size] = line.split(' ')
      return type === 'blob' ? [{ id, size: Number(size) }] : []
    })
}

function listOf(ids: readonly string[]): Buffer {
  return Buffer.from(`${ids.join('\n')}\n`, 'latin1')
}
