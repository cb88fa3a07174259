import type { BroughtBy } from '../../track/domain/changes.ts'

/**
 * The record of lines: for each path that changed between two snapshots, the positions of removed and added lines, and
 * their hashes, never their text.
 */

/** Lines removed and added at one position. Each start is the first line, from 1. */
export type LineHunk = readonly [before: number, removed: number, after: number, added: number]

/** Hashes of lines without their white space, one after the other: `hashLength` characters each. */
export type PackedHashes = string

export const hashLength = 11

/** Begins the hash of a line with fewer than five characters, which proves little by itself. */
export const shortLinePrefix = '~'

/** The number of characters besides white space that make a line solid. */
export const minSolidCharacters = 5

export function isSolid(hash: string): boolean {
  return !hash.startsWith(shortLinePrefix)
}

/** The hash of a line of white space alone. */
export const blankHash: string = shortLinePrefix.repeat(hashLength)

/** Whether git brought a line of a step. */
export function isBroughtLine({ brought = [] }: Pick<RecordedStep, 'brought'>, line: number): boolean {
  return brought.some(([first, count]) => line >= first && line < first + count)
}

export function hashAt(packed: PackedHashes, index: number): string | null {
  const hash = packed.slice(index * hashLength, (index + 1) * hashLength)
  return hash === '' ? null : hash
}

/** The changes of the lines of one path between two snapshots. */
export interface MeasuredStep {
  /** From the work tree's top. */
  readonly path: string
  /** The previous path of a renamed file. */
  readonly from?: string
  /** Ids of the contents as git would store them; null if there was no file. */
  readonly before: string | null
  readonly after: string | null
  readonly origin: 'task' | 'imported' | 'mixed'
  readonly hunks: readonly LineHunk[]
  /** Hashes of the added and the removed lines, in the order of the hunks; empty if none are kept. */
  readonly added: PackedHashes
  readonly removed: PackedHashes
  /** Lines beside a hunk, by their number afterwards, and their hashes. */
  readonly around: { readonly lines: readonly number[]; readonly hashes: PackedHashes }
  /** Lines that only changed their white space: before and after. */
  readonly reformatted?: readonly (readonly [before: number, after: number])[]
  /** Moved lines: the source path, the line before and after. */
  readonly moved?: readonly (readonly [from: string, before: number, after: number])[]
  /** Added lines that git brought: the first, and how many. */
  readonly brought?: readonly (readonly [first: number, count: number])[]
  /** How git brought them. */
  readonly broughtBy?: BroughtBy
  /** Added lines that another version of the file has too, so that they may have been copied. */
  readonly alike?: readonly (readonly [first: number, count: number])[]
  /** The content of the index, if git wrote the file in between and it was changed since. */
  readonly staged?: string
  /** The index of its author, from 0, if several authors wrote a path one after the other. */
  readonly link?: number
  /** A hook reported the change: its lines come from nowhere else. */
  readonly reported?: true
}

/** The changes of the lines of a work tree between two snapshots. */
export interface MeasuredLines {
  readonly headBefore: string | null
  readonly headAfter: string | null
  /** Whether the newest stash changed. */
  readonly stashMoved: boolean
  /** Whether a git command ran in between: added lines may come from another version. */
  readonly ran: boolean
  /** Commits that git brought. */
  readonly broughtFrom: readonly string[]
  readonly steps: readonly MeasuredStep[]
  /** When uncommitted files were last written, in milliseconds by the clock of the file system. */
  readonly times: readonly (readonly [path: string, at: number])[]
  /** Why lines of some files are not recorded. */
  readonly notes: readonly string[]
}

export type StepCertainty = 'certain' | 'probable' | 'contested'

export interface RecordedStep extends MeasuredStep {
  /** The attempts that may have made it; none if no attempt claimed it. */
  readonly owners: readonly string[]
  /** The turns of agents that may have made it without a task. */
  readonly turns?: readonly string[]
  readonly certainty: StepCertainty
  /** Stored with the hashes so that they can be deleted. */
  readonly seal?: string
}

/** The time between two neighbouring snapshots of a work tree. */
export interface RecordedSpan extends Omit<MeasuredLines, 'steps' | 'notes' | 'times'> {
  readonly tree: string
  /** Milliseconds since the epoch: when the first snapshot was taken, and the second. */
  readonly since: number
  readonly until: number
  readonly steps: readonly RecordedStep[]
}

/** A step with its position in the record. */
export interface LineStep extends RecordedStep {
  readonly seq: number
  readonly position: number
  readonly span: Omit<RecordedSpan, 'steps'>
}

/** The position of a step in the record: the log entry, and the index in it. */
export type StepPosition = readonly [seq: number, position: number]
