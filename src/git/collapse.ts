import type { FileChange } from '../domain/track/changes.ts'
import type { Difference } from './comparison.ts'
import { repositoryPairs, type Span } from './differences.ts'
import { displayPath } from './path-bytes.ts'

const listedFiles = 200

export interface Collapsed {
  readonly differences: readonly Difference[]
  /** One entry for each repository that came or went with many files. */
  readonly collapsed: readonly FileChange[]
}

/** A cloned repository with more than 200 files is one entry: its folder. */
export function collapseAppeared(span: Span, differences: readonly Difference[]): Collapsed {
  const collapsed: FileChange[] = []
  let left = differences
  for (const { to, presence } of repositoryPairs(span)) {
    if (presence === 'both' || to.prefix === '') continue
    const whole = presence === 'appeared' ? 'added' : 'deleted'
    const inside = left.filter(({ path, before, after }) => {
      return path.startsWith(to.prefix) && (whole === 'added' ? before : after) === null
    })
    if (inside.length <= listedFiles) continue
    const gone = new Set(inside)
    left = left.filter((difference) => !gone.has(difference))
    collapsed.push({
      path: displayPath(to.prefix),
      change: whole,
      origin: 'task',
      addedLines: null,
      deletedLines: null,
    })
  }
  return { differences: left, collapsed }
}
