import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { excludedFolders, isIncluded } from './exclusion.ts'
import { latestScan, rememberScan } from './latest-scan.ts'
import { snapshotNested } from './nested.ts'
import { displayPath, type PathBytes, pathBytes } from './path-bytes.ts'
import type { Repository } from './repository.ts'
import { type Keeping, snapshotRepository } from './repository-snapshot.ts'
import type { Environment } from './run-git.ts'
import { loadState, storeState } from './snapshot-file.ts'
import type { RepositoryState, WorkTreeState } from './state.ts'

export interface SnapshotWish {
  readonly directory: string
  readonly stateFolder: string
  readonly environment: Environment
  readonly repositoryMissing: boolean
  /** The most that kept contents may take, in bytes; null to keep none. */
  readonly budget: number | null
}

export interface RecordedSnapshot {
  readonly state: WorkTreeState
  readonly paths: readonly string[]
  readonly notes: readonly string[]
}

const mostPackages = 1_000

/** Records a work tree and the repositories in it, and stores the record before it answers. */
export async function recordSnapshot(repository: Repository, wish: SnapshotWish): Promise<RecordedSnapshot> {
  const { directory, environment } = wish
  const excluded = excludedFolders(repository.top, repository.prefix, wish.stateFolder)
  const includes = (path: PathBytes) => isIncluded(path, excluded)
  const keeping = await keepingOf(repository, wish)
  const outer = await snapshotRepository(repository, {
    directory,
    environment,
    keeping,
    includes,
    prefix: '',
  })
  const nested = await snapshotNested(outer, {
    top: repository.top,
    directory,
    environment,
    keeping,
    includes,
    objects: repository.objects,
  })
  const all = [outer, ...nested.snapshots]
  const notes = [...all.flatMap((snapshot) => snapshot.notes), ...nested.notes]
  const inside = nested.snapshots.flatMap(({ paths, state }) => paths.map((path) => state.prefix + path))
  const bytes = inside.length === 0 ? outer.paths : [...outer.paths, ...inside]
  const state: WorkTreeState = {
    top: repository.top,
    prefix: pathBytes(repository.prefix),
    objectFormat: repository.objectFormat,
    takenAt: await recordedSince(directory),
    repositoryMissing: wish.repositoryMissing,
    repositories: withSubmoduleCommits(all.map((snapshot) => snapshot.state)),
    linkedWorkTrees: nested.linkedWorkTrees,
    notes,
    packageFiles: packageFiles(bytes, pathBytes(repository.prefix)),
    excluded,
  }
  await storeState(directory, state)
  if (keeping !== null) await rememberScan(wish.stateFolder, latestKey(repository.top), directory)
  // In a large tree nearly always true, and then there are 100,000 paths to leave alone.
  const ascii = all.every((snapshot) => snapshot.ascii)
  return { state, paths: ascii ? bytes : bytes.map(displayPath), notes }
}

async function keepingOf(
  { top }: Repository,
  { stateFolder, budget }: SnapshotWish,
): Promise<Keeping | null> {
  if (budget === null) return null
  const latest = await latestScan(stateFolder, latestKey(top))
  const earlier = latest === undefined ? null : await loadState(latest)
  return { stateFolder, budget, earlier: earlier?.top === top ? earlier : null }
}

// Beside the last scan without git of the same folder.
function latestKey(top: string): string {
  return `git ${top}`
}

// A submodule's state in the repository around it is the commit that is checked out in it.
function withSubmoduleCommits(states: readonly RepositoryState[]): RepositoryState[] {
  const heads = new Map(states.map(({ prefix, head }) => [prefix, head]))
  return states.map((state) => {
    const overlay = new Map(state.overlay)
    for (const [path, entry] of overlay) {
      const head = heads.get(`${state.prefix}${path}/`)
      if (entry.disk?.mode !== '160000' || entry.disk.oid !== null || !head) continue
      overlay.set(path, { ...entry, disk: { mode: '160000', oid: head } })
    }
    return { ...state, overlay }
  })
}

// By the clock that also stamps the files: it is compared with theirs.
async function recordedSince(directory: string): Promise<number> {
  return (await stat(join(directory, 'HEAD'))).mtimeMs
}

function packageFiles(paths: readonly PathBytes[], prefix: PathBytes): PathBytes[] {
  return paths
    .filter(
      (path) => path.endsWith('/package.json') && path.startsWith(prefix) && path !== `${prefix}package.json`,
    )
    .slice(0, mostPackages)
}
