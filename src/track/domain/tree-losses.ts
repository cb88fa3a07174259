import { formatCount } from '../../kernel/text.ts'

/** What is in a work tree and nowhere else. */
export interface TreeLosses {
  /** Files that are not committed; ignored ones are none of them. */
  readonly uncommitted: TreeLossSummary
  /** Commits that nothing but this tree and its branch leads to, with their subjects. */
  readonly unmerged: TreeLossSummary
  /** Submodules that were filled there: each has a repository of its own, which goes with the tree. */
  readonly submodules: TreeLossSummary
}

export interface TreeLossSummary {
  /** Null where it cannot be seen; `first` then says why. */
  readonly total: number | null
  /** The first five. */
  readonly first: readonly string[]
}

/** `2 files are not committed (a.ts, b.ts)`; empty where nothing would be lost. */
export function lossWords({ uncommitted, unmerged, submodules }: TreeLosses): readonly string[] {
  return [
    ...lossSentences(uncommitted, 'what is not committed', (total) =>
      total === 1 ? '1 file is not committed' : `${total} files are not committed`,
    ),
    ...lossSentences(unmerged, 'what is not merged', (total) =>
      total === 1 ? '1 commit is on no other branch' : `${total} commits are on no other branch`,
    ),
    ...lossSentences(
      submodules,
      'what is in its submodules',
      (total) =>
        `${formatCount(total, 'submodule')} ${total === 1 ? 'has' : 'have'} a repository of ${total === 1 ? 'its' : 'their'} own there`,
    ),
  ]
}

/** The first names, and how many more there are. */
export function namesInWords({ total, first }: TreeLossSummary): string {
  const more = (total ?? first.length) - first.length
  return first.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function lossSentences(
  loss: TreeLossSummary,
  what: string,
  words: (total: number) => string,
): readonly string[] {
  if (loss.total === 0) return []
  if (loss.total === null) return [`${what} cannot be seen (${loss.first.join(', ')})`]
  return [`${words(loss.total)} (${namesInWords(loss)})`]
}
