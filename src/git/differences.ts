import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { comparedPaths, type Difference } from './comparison.ts'
import { isIncluded } from './exclusion.ts'
import { contentPlaces } from './kept-contents.ts'
import type { PathBytes } from './path-bytes.ts'
import type { PrivateDirectory } from './private-directory.ts'
import type { Environment } from './run-git.ts'
import type { RepositoryState, WorkTreeState } from './state.ts'
import { treeDifference } from './tree-difference.ts'
import { emptyTree } from './tree-object.ts'

/** Two snapshots of one work tree. */
export interface Span {
  readonly from: WorkTreeState
  readonly to: WorkTreeState
}

/** A repository at both ends. The one that is missing at an end is empty there. */
export interface RepositoryPair {
  readonly from: RepositoryState
  readonly to: RepositoryState
  readonly presence: 'both' | 'appeared' | 'disappeared'
}

/** Where both snapshots' objects can be read and new ones written. */
export function comparisonPlace({ from, to }: Span, environment: Environment): PrivateDirectory {
  const directory = to.repositories[0]?.directory ?? ''
  const all = [...from.repositories, ...to.repositories]
  const objects = new Set(
    all.flatMap((state) => [
      state.objects,
      join(state.directory, 'objects'),
      ...contentPlaces(state.contents),
    ]),
  )
  return {
    directory,
    top: to.top,
    index: join(directory, 'no-index'),
    objects: [...objects].filter((path) => existsSync(path)),
    environment,
  }
}

export function repositoryPairs({ from, to }: Span): RepositoryPair[] {
  const before = new Map(from.repositories.map((state) => [state.prefix, state]))
  const after = new Map(to.repositories.map((state) => [state.prefix, state]))
  const prefixes = new Set([...before.keys(), ...after.keys()])
  return [...prefixes].flatMap((prefix): RepositoryPair[] => {
    const a = before.get(prefix)
    const b = after.get(prefix)
    if (a !== undefined && b !== undefined) return [{ from: a, to: b, presence: 'both' }]
    if (b !== undefined) return [{ from: nothing(b, from.objectFormat), to: b, presence: 'appeared' }]
    return a === undefined ? [] : [{ from: a, to: nothing(a, to.objectFormat), presence: 'disappeared' }]
  })
}

/** Every path of interest in both snapshots, once, whether its state differs or not. */
export async function compareSnapshots(
  span: Span,
  place: PrivateDirectory,
): Promise<Map<PathBytes, Difference>> {
  const pairs = repositoryPairs(span)
  const trees = await Promise.all(pairs.map(({ from, to }) => treeDifference(place, from.tree, to.tree)))
  const merged = new Map<PathBytes, Difference>()
  for (const [at, pair] of pairs.entries()) {
    for (const compared of comparedPaths(pair.from, pair.to, trees[at] ?? new Map())) {
      if (!isIncluded(compared.path, span.to.excluded) || !isIncluded(compared.path, span.from.excluded))
        continue
      const other = merged.get(compared.path)
      merged.set(compared.path, other === undefined ? compared : combine(other, compared))
    }
  }
  return merged
}

// A folder that became a repository, or stopped being one, is seen by two repositories: one knows each end.
function combine(a: Difference, b: Difference): Difference {
  return {
    path: a.path,
    before: a.before ?? b.before,
    after: a.after ?? b.after,
    headBefore: a.headBefore ?? b.headBefore,
    headAfter: a.headAfter ?? b.headAfter,
    entryBefore: a.entryBefore ?? b.entryBefore,
    entryAfter: a.entryAfter ?? b.entryAfter,
  }
}

function nothing(like: RepositoryState, objectFormat: string): RepositoryState {
  return {
    ...like,
    head: null,
    tree: emptyTree(objectFormat),
    reflogPosition: null,
    overlay: new Map(),
    ignoredFiles: new Map(),
    ignoredFolders: [],
    submodules: [],
    operation: null,
    conflicts: [],
    suspicious: [],
  }
}
