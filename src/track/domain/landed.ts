import type { TaskId } from '../../kernel/id.ts'

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
}

/** A state in a word or two. */
export const landedWords = {
  lost: 'lost',
  reverted: 'reverted',
  landed: 'landed',
  pushed: 'pushed',
  committed: 'committed',
  uncommitted: 'not committed',
  none: 'without lines to land',
  unknown: 'not measured against a branch',
} as const satisfies Readonly<Record<LandedState, string>>

/** How many tasks have lines that are not on the default branch. */
export function notLanded(counts: ReadonlyMap<LandedState, number>): number {
  const states = ['lost', 'reverted', 'pushed', 'committed', 'uncommitted'] as const
  return states.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0)
}

/** The rest of a sentence about a task. */
export function landingWords({
  is,
  branch,
  lines,
  total,
}: Pick<Landed, 'is' | 'branch' | 'lines' | 'total'>): string {
  const share = `${lines} of ${total} ${total === 1 ? 'line' : 'lines'}`
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
      return 'not committed yet'
    case 'lost':
      return 'lost: its lines are on no branch and in no work tree'
    case 'none':
    case 'unknown':
      return landedWords[is]
  }
}

/** The lines of a task in one file, as hashes besides their white space, each once. */
export interface TaskFileLines {
  readonly path: string
  /** Lines that are in the file because of the task, and were not before. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** A file without lines, such as a picture, counts as one line: its content. */
export function wholeFile(oid: string): string {
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
/** Less than this share is left nowhere: the lines are lost. */
const remains = 0.2

/** Follows the lines of a task through the versions of the default branch, then looks for them elsewhere. */
export function followLines(task: TaskLines, { branch, base, versions, places }: LandingHistory): Landed {
  const total = task.files.reduce((sum, { added, removed }) => sum + added.length + removed.length, 0)
  const none: Landed = { is: 'none', branch, lines: 0, total, commit: null, landedAt: null }
  if (total === 0) return none
  const contents = new Map(base)
  const removed = new Map(task.files.map((file) => [file.path, new Set(file.removed)]))
  const present = new Map(
    task.files.map((file) => [file.path, presentLines(file, base.get(file.path) ?? null)]),
  )
  let state: Landed =
    task.landed === null ? atBase(task, base, none) : { ...none, ...task.landed, is: 'landed' }
  let best = task.landed?.lines ?? sumOf(present)
  for (const { commit, committedAt, files } of versions) {
    const touched = task.files.filter(({ path }) => files.has(path))
    if (touched.length === 0) continue
    for (const file of touched) present.set(file.path, presentLines(file, files.get(file.path) ?? null))
    const lines = sumOf(present)
    best = Math.max(best, lines)
    if (state.is !== 'landed' && lines >= total * enough)
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
  return elsewhere(task.files, { ...none, lines: sumOf(present) }, places)
}

/** By their dates, the commits that brought the lines may be older than the task: then they are there from the first. */
function atBase({ files }: TaskLines, base: ReadonlyMap<string, FileLines>, none: Landed): Landed {
  const added = files.flatMap(({ path, added: lines }) =>
    lines.map((line) => base.get(path)?.has(line) ?? false),
  )
  const found = added.filter(Boolean).length
  return found > 0 && found >= added.length * enough ? { ...none, is: 'landed', lines: found } : none
}

/** How many of the added lines are there, and of the removed ones are not. */
function presentLines({ added, removed }: TaskFileLines, lines: FileLines): number {
  const has = (line: string): boolean => lines?.has(line) ?? false
  return added.filter(has).length + removed.filter((line) => !has(line)).length
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
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
    lines: files.reduce((sum, file) => sum + presentLines(file, place.files.get(file.path) ?? null), 0),
  }))
  const whole = found.find(({ lines }) => lines >= not.total * enough)
  if (whole) return { ...not, is: whole.is }
  const most = found.toSorted((a, b) => b.lines - a.lines)[0]
  return { ...not, is: most && most.lines >= not.total * remains ? most.is : 'lost' }
}
