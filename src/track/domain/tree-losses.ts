import { formatCount } from '../../kernel/text.ts'

/** Content of a work tree that exists nowhere else. */
export interface TreeLosses {
  /** Uncommitted files, without ignored ones. */
  readonly uncommitted: TreeLossSummary
  /** Commits that only this tree's branch reaches, with their subjects. */
  readonly unmerged: TreeLossSummary
  /** Submodules that were initialized there: their repositories are removed with the tree. */
  readonly submodules: TreeLossSummary
}

export interface TreeLossSummary {
  /** Null where it cannot be read; `first` then says why. */
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
  content: string,
  words: (total: number) => string,
): readonly string[] {
  if (loss.total === 0) return []
  if (loss.total === null) return [`${content} cannot be seen (${loss.first.join(', ')})`]
  return [`${words(loss.total)} (${namesInWords(loss)})`]
}
