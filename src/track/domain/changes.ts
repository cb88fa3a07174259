import type { AttemptId, TaskId, TurnId } from '../../kernel/id.ts'
import type { FileScope } from './scope/scope.ts'

/** How a path's state differs between two snapshots. A change of type (file to symbolic link) counts as modified. */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'renamed'

/** Where a change came from: the work itself, git moving other people's work in, or both. */
export type ChangeOrigin = 'task' | 'imported' | 'mixed'

/** One path whose state differs. Paths are relative to the work tree's top, with `/`, as UTF-8 for display. */
export interface FileChange {
  readonly path: string
  /** The old path of a rename. */
  readonly from?: string
  readonly change: ChangeKind
  readonly typeChanged?: true
  readonly origin: ChangeOrigin
  /** Null when not countable: binary, a blob that is gone, or too large to keep. */
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** Present when the state could not be compared exactly: a sentence that says why. */
  readonly uncertain?: string
}

export interface IgnoredChanges {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly deleted: readonly string[]
}

/** A commit made or brought in between two snapshots, as the reflog tells it. */
export interface HeadMove {
  readonly commit: string
  /** The reflog's verb: commit, merge, pull, checkout, rebase, reset, cherry-pick, revert, am … */
  readonly action: string
  readonly message: string
  readonly origin: 'task' | 'imported'
  /** When it was, in milliseconds since the epoch, to the second. */
  readonly at: number
  /** What the commit changes, from the work tree's top; empty where it was not looked at. */
  readonly paths: readonly string[]
}

/** What differs between two snapshots. `unknown` means that it could not be measured: never read it as "nothing". */
export interface ChangeReport {
  readonly status: 'exact' | 'partial' | 'unknown'
  readonly changes: readonly FileChange[]
  readonly ignored: IgnoredChanges
  readonly headMoves: readonly HeadMove[]
  /** Sentences that a reader of the report must know. */
  readonly notes: readonly string[]
  /** Why the status is not `exact`: one sentence each. */
  readonly doubts: readonly string[]
  /** Folders that could not be read, and files of which git holds a change that the disk has not. */
  readonly unreadable: readonly string[]
}

/** How sure it is that the attempt made a change, when several were open in one work tree. */
export type AttributionCertainty = 'certain' | 'probable' | 'contested'

/** Another agent that was at work in the same tree. */
export interface CandidateAgent {
  readonly agent: string
  /** Its task, or its turn where it is captured and has none. */
  readonly taskId: TaskId | TurnId
}

/** A change as it is reported and stored: what was measured, judged against the scope, and whose it is. */
export interface ReportedChange extends FileChange {
  /** Null when no areas were declared, and for what is contested: that is not judged. */
  readonly scope: FileScope | null
  readonly attribution: AttributionCertainty
  /** Who may have written there too: the lines are then counted for all writers together. */
  readonly with?: readonly CandidateAgent[]
  /** The descendant attempt that made it. */
  readonly via?: AttemptId
  /** Its hooks tell of every edit, and told of none of this. */
  readonly unseen?: true
}

export type ChangeCounts = Readonly<Record<ChangeKind, number>>

export function countChanges(changes: readonly ReportedChange[]): ChangeCounts {
  const counts = { added: 0, modified: 0, deleted: 0, renamed: 0 }
  for (const { change } of changes) counts[change] += 1
  return counts
}

/** No files have no lines; where files changed and the lines of none could be counted, the sum is unknown. */
export function sumOfLines(lines: readonly (number | null)[]): number | null {
  const counted = lines.filter((one) => one !== null)
  return lines.length > 0 && counted.length === 0 ? null : counted.reduce((sum, one) => sum + one, 0)
}

/** Out of scope first, then by path: what a reader must see comes before a cut. */
export function sortOutOfScopeFirst(changes: readonly ReportedChange[]): readonly ReportedChange[] {
  const rank = (change: ReportedChange): number => (change.scope === 'out' ? 0 : 1)
  return [...changes].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

/** What the scope verdict comes to for a whole attempt. */
export interface ScopeSummary {
  /** Null when no areas were declared or the changes are unknown. */
  readonly matches: boolean | null
  readonly unexpected: readonly string[]
}

/** A path that changed during the attempt and that others probably changed: it is not among the changes. */
export interface ContestedFile {
  readonly path: string
  /** Names of the agents that are likelier, at least one. */
  readonly candidates: readonly string[]
}

/** A commit made in the work tree while the attempt was open. */
export interface AttemptCommit {
  readonly id: string
  readonly subject: string
  /** Whose it is, as far as the time and the files tell. */
  readonly author: 'own' | 'other' | 'unknown'
}

/**
 * A path that the agent names as its work, and that the measurement alone does not give it: `settled` was between
 * several agents until its words, `unchanged` did not change at all.
 */
export interface ClaimedPath {
  readonly path: string
  readonly found: 'settled' | 'unchanged'
}

/** What became of a path between the state at a mission's first attempt in a work tree and the state at its last end. */
export interface MissionChange {
  readonly path: string
  readonly from?: string
  /** `none`: attempts changed it, and at the end it is as it was. */
  readonly change: ChangeKind | 'none'
  readonly origin: ChangeOrigin
  readonly addedLines: number | null
  readonly deletedLines: number | null
  /** Someone outside the mission wrote there too, as far as that was seen. */
  readonly others?: true
}

/** What a mission's record says of a work tree, and what was measured when another of its attempts ended there. */
export interface MissionMeasurement {
  /** What is recorded of the paths that earlier attempts changed. */
  readonly recorded: readonly MissionChange[]
  /** What the attempt that ends changed. */
  readonly own: readonly FileChange[]
  /** The difference between the two states, of any path. */
  readonly states: readonly FileChange[]
  /** Paths that changed while no attempt of the mission was open, or that others may have changed. */
  readonly others: ReadonlySet<string>
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
}: MissionMeasurement): readonly MissionChange[] {
  const before = new Map(recorded.map((row) => [row.path, row]))
  const ends = ({ path, from }: Pick<FileChange, 'path' | 'from'>) =>
    from === undefined ? [path] : [path, from]
  const paths = new Set([...before.keys(), ...own.flatMap(ends)])
  const found = new Map(
    states
      .filter((change) => ends(change).some((path) => paths.has(path)))
      .map((change) => [change.path, change]),
  )
  const rows = [...new Set([...paths, ...found.keys()])].map((path): MissionChange => {
    const change = found.get(path)
    const names = change === undefined ? [path] : ends(change)
    const alsoOthers = names.some((name) => others.has(name) || before.get(name)?.others === true)
    return {
      path,
      ...(change?.from !== undefined && { from: change.from }),
      change: change?.change ?? 'none',
      origin: change?.origin ?? 'task',
      addedLines: change === undefined ? 0 : change.addedLines,
      deletedLines: change === undefined ? 0 : change.deletedLines,
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
