import type { TaskId } from '../../kernel/id.ts'
import { joinNames } from '../../kernel/text.ts'
import type { Attempt } from './task.ts'

/** How far the lines of a task came, the first that holds. */
export const landedStates = [
  /** They are nowhere: neither on a branch nor in a work tree. */
  'lost',
  /** A later commit took them back from the default branch. */
  'reverted',
  'landed',
  'pushed',
  'committed',
  'uncommitted',
  /** Later tasks changed all of them before they were on the default branch: what these wrote has to land. */
  'replaced',
  /** The task changed nothing that can be followed. */
  'none',
  /** No git, a shallow clone, or files on another machine. */
  'unknown',
] as const
export type LandedState = (typeof landedStates)[number]

export interface Landed {
  readonly is: LandedState
  /** The default branch; null if the repository has none. */
  readonly branch: string | null
  /** How many of its lines are, or were, on the default branch. A removed line counts as a line. */
  readonly lines: number
  readonly total: number
  /** The commit that brought them to the default branch, or that took them back. */
  readonly commit: string | null
  /** When that commit was made, milliseconds since the epoch; null if it did not land. */
  readonly landedAt: number | null
  /** The first of its files that are not committed, as they were just measured. */
  readonly uncommitted?: FilesNamed | undefined
}

interface FilesNamed {
  readonly paths: readonly string[]
  readonly total: number
}

const maxNamed = 3

/** A state in a word or two. */
export const landedWords = {
  lost: 'lost',
  reverted: 'reverted',
  landed: 'landed',
  pushed: 'pushed',
  committed: 'committed',
  uncommitted: 'not committed',
  replaced: 'replaced by later tasks',
  none: 'without lines to land',
  unknown: 'not measured against a branch',
} as const satisfies Readonly<Record<LandedState, string>>

/** Whether there are, or may be, lines that have to land. */
export function hasLinesToLand(state: LandedState): boolean {
  return state !== 'none' && state !== 'replaced'
}

/** Whether the lines of a task are followed: then it is worth saying where they are. */
export function isFollowed(state: LandedState): boolean {
  return hasLinesToLand(state) && state !== 'unknown'
}

/** The states of lines that are not on the default branch. */
export const notLandedStates = [
  'lost',
  'reverted',
  'pushed',
  'committed',
  'uncommitted',
] as const satisfies readonly LandedState[]

/** The attempts whose lines can be followed. */
export function endedWithGit(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.filter(({ status, snapshot }) => status !== 'open' && snapshot.engine === 'git')
}

/** The machines that measure a task with these attempts; null for the record's own, and without one. */
export function landingMachine(attempts: readonly Attempt[]): string | null {
  const names = endedWithGit(attempts).flatMap(
    ({ snapshot: { machineName, machineId } }) => machineName ?? machineId ?? [],
  )
  return names.length === 0 ? null : joinNames([...new Set(names)])
}

export function lastEnd(attempts: readonly Attempt[]): number {
  return Math.max(...attempts.map(({ closedAt }) => closedAt ?? Number.POSITIVE_INFINITY))
}

/** Whether an attempt ended since its task was measured: it may have changed more lines. */
export function isMeasuredBefore(
  { measuredAt }: { readonly measuredAt: number },
  attempts: readonly Attempt[],
): boolean {
  return endedWithGit(attempts).some(({ closedAt }) => closedAt !== null && closedAt > measuredAt)
}

/** The rest of a sentence about a task. */
export function landingWords({
  is,
  branch,
  lines,
  total,
  uncommitted,
}: Pick<Landed, 'is' | 'branch' | 'lines' | 'total' | 'uncommitted'>): string {
  // A diff also counts equal lines, and short ones such as a brace.
  const share = `${lines} of ${total} distinct ${total === 1 ? 'line' : 'lines'}`
  switch (is) {
    case 'landed':
      return `landed on ${branch} (${share})`
    case 'reverted':
      return `reverted on ${branch}`
    case 'pushed':
      return `pushed, not on ${branch} yet`
    case 'committed':
      return `committed, not on ${branch} yet`
    case 'uncommitted':
      return uncommitted === undefined ? 'not committed yet' : `not committed yet: ${namesOf(uncommitted)}`
    case 'lost':
      return 'lost: its lines are on no branch and in no work tree'
    case 'replaced':
    case 'none':
    case 'unknown':
      return landedWords[is]
  }
}

function namesOf({ paths, total }: FilesNamed): string {
  const more = total - paths.length
  return joinNames([...paths, ...(more > 0 ? [`${more} more`] : [])])
}

/** The lines of a task in one file, as hashes besides their white space, each once. */
export interface TaskFileLines {
  readonly path: string
  /** Lines that are in the file because of the task, and were not before. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** A file without lines, such as a picture, counts as one line: its content. */
export function wholeFileLine(oid: string): string {
  return `=${oid}`
}

function isWholeFile(line: string): boolean {
  return line.startsWith('=')
}

/** The lines that a task has to land. */
export interface TaskLines {
  readonly taskId: TaskId
  /** Seconds since the epoch: commits before it are older than the task. */
  readonly since: number
  readonly files: readonly TaskFileLines[]
  /** What later tasks left of them; null if they changed none. */
  readonly left: readonly TaskFileLines[] | null
  /** Already landed at this commit: only a revert is looked for after it. */
  readonly landed: Pick<Landed, 'commit' | 'landedAt' | 'lines'> | null
}

/** The lines of a file in some version: null if the file is not there. */
export type FileLines = ReadonlySet<string> | null

/** A commit of the default branch with the files of tasks that it changed. */
export interface BranchVersion {
  readonly commit: string
  /** Milliseconds since the epoch. */
  readonly committedAt: number
  readonly files: ReadonlyMap<string, FileLines>
}

/** Where the lines may be besides the default branch. */
export interface OtherPlace {
  readonly is: 'pushed' | 'committed' | 'uncommitted'
  readonly files: ReadonlyMap<string, FileLines>
}

export interface LandingHistory {
  readonly branch: string | null
  /** The files at the commit before the first version. */
  readonly base: ReadonlyMap<string, FileLines>
  /** Oldest first. */
  readonly versions: readonly BranchVersion[]
  readonly places: readonly OtherPlace[]
}

/** This share of the lines is enough: reviews change a few before they merge. */
const enough = 0.8
/** Of the added lines: a version without the file, or from before it had them, lacks the removed ones as well. */
const enoughAdded = 0.5
/** Less than this share is left nowhere: the lines are lost. */
const remains = 0.2

/** Where the lines of a task are; of those that later tasks changed before they landed, only what is left. */
export function followLines(task: TaskLines, history: LandingHistory): Landed {
  const found = follow(task, history)
  if (task.left !== null && task.landed !== null)
    return followLanded({ ...task, left: task.left }, found, history)
  if (task.left === null || found.is === 'landed' || found.is === 'reverted') return found
  const rest = follow({ ...task, files: task.left }, history)
  return rest.is === 'none' ? { ...found, is: 'replaced' } : rest
}

/** Moved lines that landed stay landed while they are in their new file, and are reverted once a commit took them from there. */
function followLanded(
  task: TaskLines & { readonly left: readonly TaskFileLines[] },
  found: Landed,
  history: LandingHistory,
): Landed {
  const rest = follow({ ...task, files: task.left, landed: null }, history)
  if (rest.is === 'landed') return { ...found, ...task.landed, is: 'landed' }
  return rest.is === 'reverted' && rest.total === found.total ? rest : found
}

/** Follows lines through the versions of the default branch, then looks for them elsewhere. */
function follow(task: TaskLines, { branch, base, versions, places }: LandingHistory): Landed {
  const total = task.files.reduce((sum, { added, removed }) => sum + added.length + removed.length, 0)
  const none: Landed = { is: 'none', branch, lines: 0, total, commit: null, landedAt: null }
  if (total === 0 || changesNoVersion(task.files, { base, versions })) return none
  const contents = new Map(base)
  const removed = new Map(task.files.map((file) => [file.path, new Set(file.removed)]))
  const present = new Map(
    task.files.map((file) => [file.path, presentLines(file, base.get(file.path) ?? null)]),
  )
  let state: Landed =
    task.landed === null ? atBase(task, base, none) : { ...none, ...task.landed, is: 'landed' }
  const isWhole = wholeTask(task.files)
  let best = task.landed?.lines ?? sumOf(present).lines
  for (const { commit, committedAt, files } of versions) {
    const touched = task.files.filter(({ path }) => files.has(path))
    if (touched.length === 0) continue
    for (const file of touched) present.set(file.path, presentLines(file, files.get(file.path) ?? null))
    const found = sumOf(present)
    const { lines } = found
    best = Math.max(best, lines)
    if (state.is !== 'landed' && isWhole(found))
      state = { ...none, is: 'landed', lines, commit, landedAt: committedAt }
    else if (
      state.is === 'landed' &&
      lines <= total * (1 - enough) &&
      bringsBack(files, contents, [base, removed])
    )
      state = { ...none, is: 'reverted', lines: best, commit, landedAt: committedAt }
    for (const [path, content] of files) contents.set(path, content)
  }
  if (state.is === 'landed') return { ...state, lines: Math.max(best, state.lines) }
  if (state.is === 'reverted') return state
  const found = elsewhere(task.files, { ...none, lines: sumOf(present).lines }, places)
  if (found.is !== 'uncommitted') return found
  const paths = task.files.flatMap((file) => (isCommitted(file, present, places) ? [] : [file.path]))
  if (paths.length === 0) return found
  return { ...found, uncommitted: { paths: paths.slice(0, maxNamed), total: paths.length } }
}

/** Whether a task only removed lines that the default branch never had. */
function changesNoVersion(
  files: readonly TaskFileLines[],
  { base, versions }: Pick<LandingHistory, 'base' | 'versions'>,
): boolean {
  return files.every(
    ({ path, added, removed }) =>
      added.length === 0 &&
      [base, ...versions.map((version) => version.files)].every((contents) => {
        const content = contents.get(path)
        return !removed.some((line) => content?.has(line))
      }),
  )
}

/** Whether the lines of one file are on the default branch or another one. */
function isCommitted(
  file: TaskFileLines,
  present: ReadonlyMap<string, PresentLines>,
  places: readonly OtherPlace[],
): boolean {
  const isWhole = wholeTask([file])
  return [
    present.get(file.path) ?? { lines: 0, added: 0 },
    ...places
      .filter(({ is }) => is !== 'uncommitted')
      .map(({ files }) => presentLines(file, files.get(file.path) ?? null)),
  ].some(isWhole)
}

/** By their dates, the commits that brought the lines may be older than the task: then they are there from the first. */
function atBase({ files }: TaskLines, base: ReadonlyMap<string, FileLines>, none: Landed): Landed {
  const added = files.flatMap(({ path, added: lines }) =>
    lines.map((line) => base.get(path)?.has(line) ?? false),
  )
  const found = added.filter(Boolean).length
  return found > 0 && found >= added.length * enough ? { ...none, is: 'landed', lines: found } : none
}

interface PresentLines {
  /** How many of the added lines are there, and of the removed ones are not. */
  readonly lines: number
  readonly added: number
}

function presentLines({ added, removed }: TaskFileLines, lines: FileLines): PresentLines {
  const has = (line: string): boolean => lines?.has(line) ?? false
  const there = added.filter(has).length
  return { lines: there + removed.filter((line) => !has(line)).length, added: there }
}

function sumOf(counts: ReadonlyMap<string, PresentLines>): PresentLines {
  return [...counts.values()].reduce(
    (sum, { lines, added }) => ({ lines: sum.lines + lines, added: sum.added + added }),
    { lines: 0, added: 0 },
  )
}

/** Whether so many of the lines of a task are the whole of it. */
function wholeTask(files: readonly TaskFileLines[], share = enough): (found: PresentLines) => boolean {
  const added = files.reduce((sum, file) => sum + file.added.length, 0)
  const total = files.reduce((sum, file) => sum + file.removed.length, added)
  return (found) => found.lines >= total * share && found.added >= added * enoughAdded
}

/** Whether a commit only brought back what was there before the task: a rewriting brings lines of its own. */
function bringsBack(
  now: ReadonlyMap<string, FileLines>,
  before: ReadonlyMap<string, FileLines>,
  earlier: readonly ReadonlyMap<string, FileLines>[],
): boolean {
  const brought = [...now].flatMap(([path, content]) =>
    [...(content ?? [])]
      .filter((line) => !isWholeFile(line) && !before.get(path)?.has(line))
      .map((line) => earlier.some((files) => files.get(path)?.has(line))),
  )
  return brought.filter(Boolean).length >= brought.length * enough
}

/** The best place besides the default branch; lines that are hardly anywhere are lost. */
function elsewhere(files: readonly TaskFileLines[], not: Landed, places: readonly OtherPlace[]): Landed {
  const found = places.map((place) => ({
    is: place.is,
    ...sumOf(
      new Map(files.map((file) => [file.path, presentLines(file, place.files.get(file.path) ?? null)])),
    ),
  }))
  const whole = found.find(wholeTask(files))
  if (whole) return { ...not, is: whole.is }
  // Where none of its added lines is, the removed ones may never have been.
  const hasAdded = files.some(({ added }) => added.length > 0)
  const [most] = found.filter(({ added }) => added > 0 || !hasAdded).toSorted((a, b) => b.lines - a.lines)
  return { ...not, is: most && most.lines >= not.total * remains ? most.is : 'lost' }
}
