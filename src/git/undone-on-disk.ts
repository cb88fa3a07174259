import { type Difference, isSameState, repositoryPairs, type SnapshotPair } from './comparison.ts'
import { type ChangeOrigins, isHeadNew } from './origin.ts'
import type { PathBytes } from './paths.ts'
import type { PrivateDirectory } from './private-directory.ts'
import type { DiskState } from './recorded-state.ts'

/** A path with an unchanged file, for which git now has another content. */
export interface UndoneChange {
  readonly path: PathBytes
  readonly holding: 'committed' | 'staged'
}

/** Changes that were committed or staged and then undone on disk: the next merge or commit contains them. */
export async function findUndoneChanges(
  place: PrivateDirectory,
  span: SnapshotPair,
  { compared, origins }: { readonly compared: Iterable<Difference>; readonly origins: ChangeOrigins },
): Promise<readonly UndoneChange[]> {
  const held = [...compared].flatMap((difference) => {
    const holding = holdingOf(difference)
    return holding === null ? [] : [{ path: difference.path, holding }]
  })
  const own = held.filter(({ path }) => origins.of(path) !== 'imported')
  if (own.length === 0) return []
  const newHeads = await prefixesOfNewHeads(place, span)
  return own.filter(
    ({ path, holding }) => holding === 'staged' || newHeads.some((prefix) => path.startsWith(prefix)),
  )
}

function holdingOf(difference: Difference): UndoneChange['holding'] | null {
  const { before, after, headBefore, headAfter, entryBefore, entryAfter } = difference
  // The content that a filter would store is unknown.
  if (!isSameState(before, after) || entryAfter?.uncertain !== undefined) return null
  const isOther = (state: DiskState | null) => state !== null && !isSameState(state, after)
  const wasStaged = entryBefore?.index !== undefined && entryBefore.index === headAfter?.oid
  if (!isSameState(headBefore, headAfter) && !wasStaged && isOther(headAfter)) return 'committed'
  return isOther(stagedSince(difference)) ? 'staged' : null
}

function stagedSince({ headBefore, headAfter, entryBefore, entryAfter }: Difference): DiskState | null {
  const index = entryAfter?.index
  const earlier = entryBefore?.index ?? (entryBefore?.staged ? entryBefore.disk : headBefore)?.oid
  if (index === undefined || index === earlier || index === headAfter?.oid) return null
  return { mode: headAfter?.mode ?? '100644', oid: index }
}

/** The repositories whose HEAD is a new commit: an older commit contains nothing new. */
async function prefixesOfNewHeads(
  place: PrivateDirectory,
  span: SnapshotPair,
): Promise<readonly PathBytes[]> {
  const pairs = repositoryPairs(span)
  const areNew = await Promise.all(pairs.map((pair) => isHeadNew(place, pair)))
  return pairs.filter((_, at) => areNew[at]).map(({ to }) => to.prefix)
}
