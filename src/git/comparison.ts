import { sameStat } from './disk.ts'
import type { PathBytes } from './path-bytes.ts'
import type { DiskState, OverlayEntry, RepositoryState } from './state.ts'
import type { GitState } from './status.ts'
import type { TreeDifference } from './tree-difference.ts'

/** A path whose state on disk differs between two snapshots, from the work tree's top. */
export interface Difference {
  readonly path: PathBytes
  readonly before: DiskState | null
  readonly after: DiskState | null
  readonly headBefore: GitState | null
  readonly headAfter: GitState | null
  /** In the overlay of that snapshot: not simply as committed. */
  readonly entryBefore: OverlayEntry | undefined
  readonly entryAfter: OverlayEntry | undefined
}

/** Every path of either overlay or of the difference of the HEADs, as it was and as it is, changed or not. */
export function* comparedPaths(
  from: RepositoryState,
  to: RepositoryState,
  trees: ReadonlyMap<PathBytes, TreeDifference>,
): Generator<Difference> {
  const paths = new Set([...trees.keys(), ...from.overlay.keys(), ...to.overlay.keys()])
  for (const path of paths) {
    const tree = trees.get(path)
    const entryBefore = from.overlay.get(path)
    const entryAfter = to.overlay.get(path)
    // Where the trees agree, either overlay knows what HEAD has there.
    const headBefore = tree === undefined ? ((entryBefore ?? entryAfter)?.head ?? null) : tree.before
    const headAfter = tree === undefined ? ((entryAfter ?? entryBefore)?.head ?? null) : tree.after
    yield {
      path: from.prefix + path,
      before: entryBefore === undefined ? headBefore : entryBefore.disk,
      after: entryAfter === undefined ? headAfter : entryAfter.disk,
      headBefore,
      headAfter,
      entryBefore,
      entryAfter,
    }
  }
}

export function sameState(a: DiskState | null, b: DiskState | null): boolean {
  if (a === null || b === null) return a === b
  if (a.mode !== b.mode) return false
  if (a.oid !== null && b.oid !== null) return a.oid === b.oid
  return a.stat !== undefined && b.stat !== undefined && sameStat(a.stat, b.stat)
}

/** Whether one is a regular file and the other a link or a submodule. */
export function typeDiffers(a: DiskState, b: DiskState): boolean {
  return a.mode.slice(0, 2) !== b.mode.slice(0, 2)
}
