import { type Difference, sameState } from './comparison.ts'
import type { Span } from './differences.ts'
import { displayPath, type PathBytes } from './path-bytes.ts'

const listed = 10

/** What a reader must know beside the list of changes. */
export function comparisonNotes(span: Span, compared: Iterable<Difference>): string[] {
  const removed: PathBytes[] = []
  const committed: PathBytes[] = []
  const untracked: PathBytes[] = []
  // A repository without commits tracks nothing, and says nothing by it.
  const tracks = span.to.repositories[0]?.head !== null
  for (const difference of compared) {
    if (removesEarlierWork(difference)) removed.push(difference.path)
    if (commitsEarlierFile(difference)) committed.push(difference.path)
    if (tracks && untracks(difference)) untracked.push(difference.path)
  }
  return [
    ...about(removed, 'Pre-existing uncommitted work was removed: '),
    ...about(committed, 'Committed although the task did not change it, a pre-existing file: '),
    ...about(untracked, 'No longer tracked, but still on disk: '),
    ...repositoryNotes(span),
    ...span.from.notes.map((note) => `At the start: ${note}`),
    ...span.to.notes,
  ]
}

function repositoryNotes({ from, to }: Span): string[] {
  const notes: string[] = []
  if (to.repositoryMissing) notes.push('The .git folder disappeared; the files were measured without it.')
  for (const path of to.linkedWorkTrees) {
    notes.push(
      `${displayPath(path)} is a linked work tree of the same repository and no part of this report.`,
    )
  }
  for (const { prefix, operation, conflicts, suspicious } of to.repositories) {
    const where = prefix === '' ? '' : ` in ${displayPath(prefix)}`
    if (operation !== null) notes.push(`A ${operation.name} is in progress${where}.`)
    notes.push(...about(conflicts, `Unresolved conflicts${where}: `))
    if (suspicious.length > 0) {
      notes.push(
        `The repository's own configuration${where} names programs or redirects paths (nothing was run): ${suspicious.join(', ')}.`,
      )
    }
  }
  const gone = from.repositories.filter(
    ({ prefix }) => !to.repositories.some((state) => state.prefix === prefix),
  )
  for (const { prefix } of gone) {
    if (prefix !== '') notes.push(`${displayPath(prefix)} is not a repository any more.`)
  }
  return notes
}

// Dirty at the start, and now as it was committed then.
function removesEarlierWork({ before, after, headBefore, entryBefore }: Difference): boolean {
  if (entryBefore === undefined || !entryBefore.tracked || headBefore === null) return false
  return !sameState(before, headBefore) && !sameState(before, after) && sameState(after, headBefore)
}

function commitsEarlierFile({ before, after, headBefore, headAfter }: Difference): boolean {
  return before !== null && headBefore === null && headAfter !== null && sameState(before, after)
}

function untracks({ before, after, headBefore, entryAfter, entryBefore }: Difference): boolean {
  if (before === null || after === null || headBefore === null || entryBefore?.tracked === false) return false
  return entryAfter?.tracked === false
}

function about(paths: readonly PathBytes[], beginning: string): string[] {
  if (paths.length === 0) return []
  const names = paths.slice(0, listed).map(displayPath).join(', ')
  const more = paths.length > listed ? ` and ${paths.length - listed} more` : ''
  return [`${beginning}${names}${more}.`]
}
