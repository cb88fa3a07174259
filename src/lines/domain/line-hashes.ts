/**
 * What is recorded of lines: for each changed path of the time between two snapshots, where lines went and came, and
 * hashes of them, never their text.
 */

/** Lines that went and came at one place. Each start is the first line, from 1, or the one that nothing stands before. */
export type LineHunk = readonly [before: number, removed: number, after: number, added: number]

/** Hashes of lines without their white space, one after the other: `hashLength` characters each. */
export type PackedHashes = string

export const hashLength = 11

/** Begins the hash of a line with fewer than five characters, which proves little by itself. */
export const thinMark = '~'

/** How many characters besides white space make a line solid. */
export const solidLength = 5

export function isSolid(hash: string): boolean {
  return !hash.startsWith(thinMark)
}

/** The hash of a line of white space alone. */
export const blankHash: string = thinMark.repeat(hashLength)

export function hashAt(packed: PackedHashes, index: number): string | null {
  const hash = packed.slice(index * hashLength, (index + 1) * hashLength)
  return hash === '' ? null : hash
}

/** What became of the lines of one path between two snapshots. */
export interface MeasuredStep {
  /** From the work tree's top. */
  readonly path: string
  /** The name before, of a file that was renamed. */
  readonly from?: string
  /** Ids of the contents as git would store them; null where there was none. */
  readonly before: string | null
  readonly after: string | null
  readonly origin: 'task' | 'imported' | 'mixed'
  readonly hunks: readonly LineHunk[]
  /** Of the added and the removed lines, in the order of the hunks; empty where none are kept. */
  readonly added: PackedHashes
  readonly removed: PackedHashes
  /** Lines beside a hunk, by their number afterwards, and their hashes. */
  readonly around: { readonly lines: readonly number[]; readonly hashes: PackedHashes }
  /** Lines that only changed their white space: before and after. */
  readonly reformatted?: readonly (readonly [before: number, after: number])[]
  /** Lines that came from elsewhere: from which path, before and after. */
  readonly moved?: readonly (readonly [from: string, before: number, after: number])[]
  /** Added lines that git brought along: the first, and how many. */
  readonly brought?: readonly (readonly [first: number, count: number])[]
  /** What git put into its place in between, and was changed since: the content that the index has come to hold. */
  readonly staged?: string
  /** Of a path that several wrote one after the other: its place in their order, from 0. */
  readonly link?: number
}

/** What became of the lines of a work tree between two snapshots. */
export interface MeasuredLines {
  readonly headBefore: string | null
  readonly headAfter: string | null
  /** What was put away with `git stash` is another than before. */
  readonly stashMoved: boolean
  /** Git ran in between: what came may have been elsewhere before. */
  readonly ran: boolean
  /** Commits that came from elsewhere. */
  readonly broughtFrom: readonly string[]
  readonly steps: readonly MeasuredStep[]
  /** Why lines of some files are not recorded. */
  readonly notes: readonly string[]
}

export type StepCertainty = 'certain' | 'probable' | 'contested'

export interface RecordedStep extends MeasuredStep {
  /** The attempts that made it, several where it is not known which; none where no attempt claimed it. */
  readonly owners: readonly string[]
  /** The turns of agents that made it without a task; several where it is not known which. */
  readonly turns?: readonly string[]
  readonly certainty: StepCertainty
  /** Put beside the hashes when they are written down, so that they can be forgotten. */
  readonly seal?: string
}

/** The time between two neighbouring snapshots of a work tree. */
export interface RecordedSpan extends Omit<MeasuredLines, 'steps' | 'notes'> {
  readonly tree: string
  /** Milliseconds since the epoch: when the first snapshot was taken, and the second. */
  readonly since: number
  readonly until: number
  readonly steps: readonly RecordedStep[]
}

/** A step with its place in the record. */
export interface LineStep extends RecordedStep {
  readonly seq: number
  readonly position: number
  readonly span: Omit<RecordedSpan, 'steps'>
}

/** Where a step is in the record: the log entry, and its place in it. */
export type StepPosition = readonly [seq: number, position: number]
