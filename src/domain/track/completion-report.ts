import type { Measured } from '../fact.ts'
import { excerpt } from '../text.ts'
import type { ChangeKind, ReportedChange } from './changes.ts'

/** Most paths that an answer lists, and most characters of details: an answer stays below 2,000 tokens. */
const mostPaths = 50
const pathCharacters = 2_000
const detailCharacters = 2_600
const mostContested = 20
const mostCommits = 10
const mostWarnings = 12
const longestWarning = 300

export type ChangeCounts = Readonly<Record<ChangeKind, number>>

export function countChanges(changes: readonly ReportedChange[]): ChangeCounts {
  const counts = { added: 0, modified: 0, deleted: 0, renamed: 0 }
  for (const { change } of changes) counts[change] += 1
  return counts
}

/** Out of scope first, then by path: what a reader must see comes before a cut. */
export function inReadingOrder(changes: readonly ReportedChange[]): readonly ReportedChange[] {
  const rank = (change: ReportedChange): number => (change.scope === 'out' ? 0 : 1)
  return [...changes].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

/** A change as answers spell it. */
export function changeDetail(change: ReportedChange) {
  return {
    path: change.path,
    ...(change.from !== undefined && { from: change.from }),
    change: change.change,
    ...(change.typeChanged && { type_changed: true }),
    origin: change.origin,
    scope: change.scope,
    attribution: change.attribution,
    added_lines: change.addedLines,
    deleted_lines: change.deletedLines,
    ...(change.with !== undefined && {
      with: change.with.map(({ agent, taskId }) => ({ agent, task_id: taskId })),
      lines: 'all',
    }),
    ...(change.via !== undefined && { via: change.via }),
    ...(change.uncertain !== undefined && { uncertain: change.uncertain }),
  }
}

/** The measured part of an answer, cut to what fits; `counts` always tells how much there is. */
export function completionReport(evidence: Measured, taskId: string) {
  const ordered = inReadingOrder(evidence.changes)
  const listed = within(
    ordered.slice(0, mostPaths),
    pathCharacters,
    ({ path, from }) => path.length + (from?.length ?? 0) + 12,
  )
  const details = within(
    listed.map(changeDetail),
    detailCharacters,
    (detail) => JSON.stringify(detail).length,
  )
  const cut = details.length < ordered.length
  const paths = (kind: ChangeKind) => listed.filter(({ change }) => change === kind).map(({ path }) => path)
  return {
    files_changed: {
      added: paths('added'),
      modified: paths('modified'),
      deleted: paths('deleted'),
      renamed: listed
        .filter(({ change }) => change === 'renamed')
        .map(({ from, path }) => ({ from: from ?? path, to: path })),
    },
    counts: countChanges(evidence.changes),
    details,
    ...sharedTree(evidence),
    ignored: {
      added: evidence.ignored.added.slice(0, 10),
      modified: evidence.ignored.modified.slice(0, 10),
      deleted: evidence.ignored.deleted.slice(0, 10),
    },
    verification: {
      status: evidence.verification,
      scope_match: evidence.scope.matches,
      unexpected_files: within(
        evidence.scope.unexpected.slice(0, mostPaths),
        pathCharacters / 2,
        (path) => path.length,
      ),
      warnings: cutWarnings(evidence.warnings),
    },
    ...(cut && { all_changes: `waymark://tasks/${taskId}/changes` }),
  }
}

/** What is told only where there is something to tell: what others may have changed, commits, what the words name. */
export function sharedTree({ contested, commits, claimedPaths, widened }: Omit<Measured, 'changes'>) {
  return {
    ...(contested && {
      contested_files: within(
        contested.slice(0, mostContested),
        pathCharacters,
        ({ path }) => path.length + 30,
      ),
    }),
    ...(contested && contested.length > mostContested && { contested_files_total: contested.length }),
    ...(commits && {
      commits: commits
        .slice(0, mostCommits)
        .map(({ id, subject, by }) => ({ id: id.slice(0, 12), subject: excerpt(subject, 80), by })),
    }),
    ...(commits && commits.length > mostCommits && { commits_total: commits.length }),
    ...(claimedPaths && {
      claimed_paths: within(
        claimedPaths.slice(0, mostContested),
        pathCharacters / 2,
        ({ path }) => path.length,
      ),
    }),
    ...(widened && { areas_added: widened }),
  }
}

function cutWarnings(warnings: readonly string[]): readonly string[] {
  const shown = warnings.slice(0, mostWarnings).map((warning) => excerpt(warning, longestWarning))
  const left = warnings.length - shown.length
  return left === 0 ? shown : [...shown, `${left} more warnings.`]
}

/** The first items whose sizes together stay within a budget; at least one. */
function within<Item>(
  items: readonly Item[],
  budget: number,
  sizeOf: (item: Item) => number,
): readonly Item[] {
  let used = 0
  const end = items.findIndex((item, index) => {
    used += sizeOf(item)
    return index > 0 && used > budget
  })
  return end === -1 ? items : items.slice(0, end)
}

/** The words in which an agent says what it did. */
export interface ClaimedWork {
  readonly summary: string
  readonly achievements: readonly string[]
  readonly limitations?: readonly string[]
  /** Files outside the areas that the agent explains. */
  readonly unexpected?: readonly { readonly path: string }[]
}

// A path has a folder and an ending; a word with a slash alone, such as and/or, is none.
const path = /(?<![\w@./:-])(?:\.{0,2}\/)?((?:[\w@.-]+\/)+[\w@-][\w@.-]*\.\w{1,8})(?![\w/])/g

/** Files that an agent says it changed and that are not among the measured paths. A path may be named from its middle. */
export function claimedNotFound(claimed: ClaimedWork, measured: readonly string[]): readonly string[] {
  const said = [claimed.summary, ...claimed.achievements].flatMap((text) =>
    [...text.matchAll(path)].map(([, found]) => found ?? ''),
  )
  return [...new Set(said)].filter(
    (path) => !measured.some((real) => real === path || real.endsWith(`/${path}`)),
  )
}

/** Which of some paths an agent's words name whole. */
export function namedIn(claimed: ClaimedWork, paths: readonly string[]): readonly string[] {
  const text = [claimed.summary, ...claimed.achievements, ...(claimed.limitations ?? [])].join('\n')
  const explained = new Set(claimed.unexpected?.map(({ path }) => path.replace(/^\.\//, '')))
  return paths.filter((path) => explained.has(path) || names(text, path))
}

// Not a part of a longer name: neither `src/a.ts` in `old/src/a.ts`, nor in `src/a.tsx` or `src/a.ts.bak`.
function names(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const before = text.slice(0, at)
    const after = text.slice(at + path.length)
    const begins = /(?:^|[^\p{L}\p{N}_@./\\-])(?:\.\/)?$/u.test(before)
    if (begins && !/^(?:[\p{L}\p{N}_@/\\-]|\.[\p{L}\p{N}_])/u.test(after)) return true
  }
  return false
}
