import type { AttemptId, TaskId, TurnId } from '../../kernel/id.ts'
import type { FileScope } from './scope/scope.ts'

/** How a path's state differs between two snapshots. A type change (file to symbolic link) counts as modified. */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'renamed'

/** The origin of a change: the attempt's own work, git importing other people's work, or both. */
export type ChangeOrigin = 'task' | 'imported' | 'mixed'

/** The git commands that bring lines into files and leave a trace of their name. */
export const bringingCommands = [
  'merge',
  'pull',
  'checkout',
  'rebase',
  'reset',
  'cherry-pick',
  'revert',
  'am',
  'stash',
] as const

/** How git brought lines, as far as it is known. */
export interface BroughtBy {
  readonly command?: (typeof bringingCommands)[number]
  /** The commit or stash that has them. */
  readonly commit?: string
}

/** `brought by git (cherry-pick, 1a2b3c4d)`; `the same as in git`; `the same as in 1a2b3c4d` where no command brought it: who was there may have typed it. */
export function broughtByGit({
  command,
  commit,
}: {
  command?: string | undefined
  commit?: string | undefined
} = {}): string {
  const id = commit?.slice(0, 8)
  if (command === undefined) return id === undefined ? 'the same as in git' : `the same as in ${id}`
  return `brought by git (${id === undefined ? command : `${command}, ${id}`})`
}

/** One changed path, for display. Paths are relative to the work tree, with `/`, as UTF-8. */
export interface FileChange {
  readonly path: string
  /** The old path of a rename. */
  readonly from?: string
  readonly change: ChangeKind
  readonly typeChanged?: true
  readonly origin: ChangeOrigin
  /** Null for a binary, a missing blob, or a blob that is too large. */
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** How many of the added lines git brought: by a merge, a cherry-pick, a checkout of the file, a stash. */
  readonly broughtLines?: number
  /** How git brought them. */
  readonly broughtBy?: BroughtBy
  /** Why the state could not be compared exactly, if so. */
  readonly uncertain?: string
}

export interface IgnoredChanges {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly deleted: readonly string[]
}

/** A commit between two snapshots, from the reflog. */
export interface HeadMove {
  readonly commit: string
  /** The reflog's verb: commit, merge, pull, checkout, rebase, reset, cherry-pick, revert, am … */
  readonly action: string
  readonly message: string
  readonly origin: 'task' | 'imported'
  /** In milliseconds, accurate to the second. */
  readonly movedAt: number
  /** The changed paths, relative to the work tree; empty if they were not read. */
  readonly paths: readonly string[]
}

/** The difference between two snapshots. `unknown` means not measured, never "nothing". */
export interface ChangeReport {
  readonly status: 'exact' | 'partial' | 'unknown'
  readonly changes: readonly FileChange[]
  readonly ignored: IgnoredChanges
  readonly headMoves: readonly HeadMove[]
  /** Files whose uncommitted lines from before the task are gone. */
  readonly removedWork: readonly string[]
  /** Notes for the reader of the report. */
  readonly notes: readonly string[]
  /** Why the status is not `exact`: one sentence each. */
  readonly doubts: readonly string[]
  /** Unreadable folders, and files whose change exists only in git. */
  readonly unreadable: readonly string[]
}

/** Work of a repository outside the files of one work tree. */
export interface WorkElsewhere {
  /** How many commits of other branches and work trees there are. */
  readonly commits: number
  /** The paths that they changed, and those that changed in other work trees without a commit. */
  readonly paths: readonly string[]
}

/** How certain it is that the attempt made a change, among several in one work tree. */
export type AttributionCertainty = 'certain' | 'probable' | 'contested'

/** Another agent in the same work tree. */
export interface CandidateAgent {
  readonly agent: string
  /** Its task, or its turn if a captured turn has none. */
  readonly taskId: TaskId | TurnId
}

/** A change as it is reported and stored, with its scope and attribution. */
export interface ReportedChange extends FileChange {
  /** Null when no areas were declared, and for contested changes, which are not judged. */
  readonly scope: FileScope | null
  readonly attribution: AttributionCertainty
  /** Other possible authors: the line counts are then shared. */
  readonly with?: readonly CandidateAgent[]
  /** The descendant attempt that made it. */
  readonly via?: AttemptId
  /** Its hooks report every edit, but not this one. */
  readonly unseen?: true
}

/** The path of a change, and the old path of a rename. */
export function namesOf({ path, from }: Pick<FileChange, 'path' | 'from'>): readonly string[] {
  return from === undefined ? [path] : [path, from]
}

export type ChangeCounts = Readonly<Record<ChangeKind, number>>

export function countChanges(changes: readonly Pick<ReportedChange, 'change'>[]): ChangeCounts {
  const counts = { added: 0, modified: 0, deleted: 0, renamed: 0 }
  for (const { change } of changes) counts[change] += 1
  return counts
}

/** The lines of a change that every sum counts: without those that git brought. */
export function ownLines({
  origin,
  addedLines,
  deletedLines,
  broughtLines = 0,
}: Pick<FileChange, 'origin' | 'addedLines' | 'deletedLines'> & {
  readonly broughtLines?: number | undefined
}): { readonly addedLines: number | null; readonly deletedLines: number | null } {
  if (origin === 'imported') return { addedLines: 0, deletedLines: 0 }
  return { addedLines: addedLines === null ? null : addedLines - broughtLines, deletedLines }
}

/** The sums of several changes. */
export function sumOfOwnLines(
  changes: readonly Parameters<typeof ownLines>[0][],
): ReturnType<typeof ownLines> {
  const own = changes.map(ownLines)
  return {
    addedLines: sumOfLines(own.map(({ addedLines }) => addedLines)),
    deletedLines: sumOfLines(own.map(({ deletedLines }) => deletedLines)),
  }
}

/** What all attempts at a task changed. */
export interface TaskWork {
  readonly files: number
  readonly counts: ChangeCounts
  readonly addedLines: number | null
  readonly deletedLines: number | null
}

/** The files and lines of consecutive changes. A file that was added and deleted again is none. */
export function workOfAttempts(changes: readonly ReportedChange[]): TaskWork {
  const work = new Map<string, { change: ChangeKind; own: ReturnType<typeof ownLines>[] }>()
  for (const one of changes) {
    const before = work.get(one.path) ?? (one.from === undefined ? undefined : work.get(one.from))
    for (const name of namesOf(one)) work.delete(name)
    if (before?.change === 'added' && one.change === 'deleted') continue
    work.set(one.path, {
      change: before === undefined ? one.change : changeAfter(before.change, one.change),
      own: [...(before?.own ?? []), ownLines(one)],
    })
  }
  const files = [...work.values()]
  const own = files.flatMap((file) => file.own)
  return {
    files: files.length,
    counts: countChanges(files),
    addedLines: sumOfLines(own.map(({ addedLines }) => addedLines)),
    deletedLines: sumOfLines(own.map(({ deletedLines }) => deletedLines)),
  }
}

function changeAfter(before: ChangeKind, now: ChangeKind): ChangeKind {
  if (before === 'deleted' && now === 'added') return 'modified'
  return before === 'added' || (before === 'renamed' && now === 'modified') ? before : now
}

/** No files means zero lines; files without any counted line mean unknown. */
export function sumOfLines(lines: readonly (number | null)[]): number | null {
  const counted = lines.filter((one) => one !== null)
  return lines.length > 0 && counted.length === 0 ? null : counted.reduce((sum, one) => sum + one, 0)
}

/** Out of scope first, then by path, since the list may be cut. */
export function sortOutOfScopeFirst(changes: readonly ReportedChange[]): readonly ReportedChange[] {
  const rank = (change: ReportedChange): number => (change.scope === 'out' ? 0 : 1)
  return [...changes].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

/** The scope result of a whole attempt. */
export interface ScopeSummary {
  /** Null when no areas were declared or the changes are unknown. */
  readonly matches: boolean | null
  readonly unexpected: readonly string[]
}

/** The maximum of possible authors that an answer names for a file. */
export const maxAuthors = 3

/** The names of possible authors, and how many more there are. */
export function namesWithMore(names: readonly string[], total = names.length): readonly string[] {
  return total > names.length ? [...names, `${total - names.length} more`] : names
}

/** A path that others probably changed during the attempt; it is not among the changes. */
export interface ContestedFile {
  readonly path: string
  /** Names of the more likely agents, at least one. */
  readonly candidates: readonly string[]
}

/** A commit made in the work tree while the attempt was open. */
export interface AttemptCommit {
  readonly id: string
  readonly subject: string
  /** The author, as far as the time and the files show it. */
  readonly author: 'own' | 'other' | 'unknown'
}

/**
 * A path that the agent names as its work, and that the measurement alone does not give it: `uncontested` was between
 * several agents until its words, `unchanged` did not change at all.
 */
export interface ClaimedPath {
  readonly path: string
  readonly found: 'uncontested' | 'unchanged' | 'missing'
}

/** The net change of a path in a mission, from its first attempt in a work tree to its last end. */
export interface MissionChange {
  readonly path: string
  readonly from?: string
  /** `none`: attempts changed it, but its final state equals the first one. */
  readonly change: ChangeKind | 'none'
  readonly origin: ChangeOrigin
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** Someone outside the mission changed it too, as far as it was measured. */
  readonly others?: true
}

/** A mission's recorded changes in a work tree, and the measurement of another attempt that ended there. */
export interface MissionMeasurement {
  /** The recorded changes of earlier attempts. */
  readonly recorded: readonly MissionChange[]
  /** The changes of the attempt that ends. */
  readonly own: readonly FileChange[]
  /** The difference between the first and the current state, for all paths. */
  readonly states: readonly FileChange[]
  /** Paths that changed while no attempt of the mission was open, or that others may have changed. */
  readonly others: ReadonlySet<string>
  /** The attempt began after the recorded changes: none of them is among its own. */
  readonly isLater: boolean
}

/**
 * The rows of a mission's record that are different once an attempt has ended. Only paths that an attempt of the
 * mission changed count; each counts once, however many attempts changed it.
 */
export function changesOfMission({
  recorded,
  own,
  states,
  others,
  isLater,
}: MissionMeasurement): readonly MissionChange[] {
  const before = new Map(recorded.map((row) => [row.path, row]))
  const paths = new Set([...before.keys(), ...own.flatMap(namesOf)])
  const linesOf = (change: FileChange) => {
    const lines = ownLines(change)
    if (change.addedLines === null) return { origin: change.origin, ...lines }
    const names = new Set([change, ...own.filter((one) => one.path === change.path)].flatMap(namesOf))
    const earlier = [...names].map((name) => before.get(name)?.addedLines ?? 0)
    const changed = sumOfOwnLines(own.filter((one) => names.has(one.path)))
    const written =
      earlier.reduce((sum, one) => sum + one, isLater ? (changed.addedLines ?? 0) : 0) -
      (changed.deletedLines ?? 0)
    // What the mission's tasks wrote and did not take back stays theirs, also where git brought it again.
    const kept = Math.min(change.addedLines, written)
    if (kept <= (lines.addedLines ?? 0)) return { origin: change.origin, ...lines }
    const origin = change.origin === 'imported' ? ('mixed' as const) : change.origin
    return { origin, addedLines: kept, deletedLines: change.deletedLines }
  }
  const found = new Map(
    states
      .filter((change) => namesOf(change).some((path) => paths.has(path)))
      .map((change) => [change.path, change]),
  )
  const rows = [...new Set([...paths, ...found.keys()])].map((path): MissionChange => {
    const change = found.get(path)
    const names = change === undefined ? [path] : namesOf(change)
    const alsoOthers = names.some((name) => others.has(name) || before.get(name)?.others === true)
    return {
      path,
      ...(change?.from !== undefined && { from: change.from }),
      change: change?.change ?? 'none',
      ...(change === undefined ? { origin: 'task', addedLines: 0, deletedLines: 0 } : linesOf(change)),
      ...(alsoOthers && { others: true }),
    }
  })
  return rows.filter((row) => !isSame(row, before.get(row.path)))
}

function isSame(row: MissionChange, recorded: MissionChange | undefined): boolean {
  if (recorded === undefined) return false
  return (
    row.from === recorded.from &&
    row.change === recorded.change &&
    row.origin === recorded.origin &&
    row.addedLines === recorded.addedLines &&
    row.deletedLines === recorded.deletedLines &&
    row.others === recorded.others
  )
}
