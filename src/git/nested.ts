import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { findRepository } from './find-repository.ts'
import { displayPath, type PathBytes } from './path-bytes.ts'
import type { Repository } from './repository.ts'
import { type Keeping, type RepositorySnapshot, snapshotRepository } from './repository-snapshot.ts'
import type { Environment } from './run-git.ts'

const deepest = 4
const most = 50

export interface NestedSnapshots {
  readonly snapshots: readonly RepositorySnapshot[]
  readonly linkedWorkTrees: readonly PathBytes[]
  readonly notes: readonly string[]
}

export interface NestedPlace {
  readonly top: string
  readonly directory: string
  readonly environment: Environment
  readonly keeping: Keeping | null
  readonly includes: (path: PathBytes) => boolean
  /** The object folder of the repository around. */
  readonly objects: string
}

interface Folder {
  readonly path: PathBytes
  readonly depth: number
}

/** Records the repositories inside a work tree, level by level. Linked work trees of the same repository stay closed. */
export async function snapshotNested(
  outer: RepositorySnapshot,
  place: NestedPlace,
): Promise<NestedSnapshots> {
  const snapshots: RepositorySnapshot[] = []
  const linkedWorkTrees: PathBytes[] = []
  const notes: string[] = []
  // Linked work trees share these.
  const known = new Set([place.objects])
  const queue = foldersOf(outer, 1)
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (next.depth > deepest || snapshots.length >= most) {
      notes.push(
        `${displayPath(next.path)} is a repository too many to look into: its files were not recorded.`,
      )
      continue
    }
    const opened = await open(next, place, known)
    if (opened.status === 'linked') linkedWorkTrees.push(next.path)
    if (opened.status === 'closed') notes.push(opened.note)
    if (opened.status === 'usable') {
      const { path } = next
      known.add(opened.objects)
      const snapshot = await snapshotRepository(opened, {
        directory: join(place.directory, 'nested', String(snapshots.length)),
        prefix: path,
        environment: place.environment,
        keeping: place.keeping,
        includes: (inner) => place.includes(path + inner),
      })
      snapshots.push(snapshot)
      queue.push(...foldersOf(snapshot, next.depth + 1))
    }
  }
  return { snapshots, linkedWorkTrees, notes }
}

function foldersOf({ state, nested }: RepositorySnapshot, depth: number): Folder[] {
  return nested.map((path) => {
    return { path: `${state.prefix}${path}${path.endsWith('/') ? '' : '/'}`, depth }
  })
}

type Opened =
  | Repository
  | { readonly status: 'linked' | 'absent' }
  | { readonly status: 'closed'; readonly note: string }

// Absent: a submodule that is not checked out.
async function open(folder: Folder, place: NestedPlace, known: ReadonlySet<string>): Promise<Opened> {
  const name = displayPath(folder.path)
  const path = realPath(join(place.top, name))
  if (path === null) return { status: 'absent' }
  const found = await findRepository(path, place.environment)
  if (found.status !== 'usable') {
    return { status: 'closed', note: `${name} was not looked into. ${found.reason}` }
  }
  if (found.top === path) return known.has(found.objects) ? { status: 'linked' } : found
  if (path.startsWith(`${found.top}/`)) return { status: 'absent' }
  return {
    status: 'closed',
    note: `${name} was not looked into: its repository's work tree is ${found.top}.`,
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
