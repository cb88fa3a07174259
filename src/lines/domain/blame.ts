import type { BroughtBy } from '../../track/domain/changes.ts'
import { isSolid, type LineStep } from './line-hashes.ts'
import { minMovedLines } from './lines-of-change.ts'
import {
  type HashedLines,
  type LineOrigin,
  type LineRecord,
  type LineState,
  lineOf,
  matchLines,
  wholeHashedFile,
} from './record.ts'

/** How the origin of a line was found. */
export type BlameMethod = 'exact' | 'aligned' | 'matched' | 'git'

/** The origin that was found for a line of a file. */
export interface LineFinding {
  readonly kind: 'agent' | 'outside' | 'author' | 'before' | 'uncommitted'
  readonly how: BlameMethod
  readonly origin: LineOrigin | null
  /** Its text proves little: it counts because of the adjacent lines. */
  readonly rests: boolean
  /** The commit by git's blame, if that was run. */
  readonly commit: string | null
  /** Git brought it into the file, as far as that is recorded. */
  readonly brought?: BroughtBy
}

/** A content to look up: its id, and the hash of each line. */
export interface BlameContent {
  readonly path: string
  readonly oid: string
  readonly hashes: readonly string[]
}

/** Lines of one commit, as git's blame names them. */
export interface CommittedLine {
  readonly commit: string
  readonly path: string
  /** In that commit's file, and in the requested one; from 1. */
  readonly line: number
  readonly currentLine: number
}

export interface CommitOfLines {
  readonly id: string
  /** Milliseconds since the epoch: by its committer's clock, to the second. */
  readonly committedAt: number
  /** Its content at each path that lines are from; without hashes if nothing needs them. */
  readonly contents: ReadonlyMap<
    string,
    { readonly oid: string | null; readonly hashes: readonly string[] | null }
  >
}

export interface BlameInput {
  readonly record: LineRecord
  /** When the first lines were recorded, milliseconds since the epoch; null if none were. */
  readonly since: number | null
  /** Other states that have lines of a content, found by their hashes, newest first. */
  readonly elsewhere: readonly LineStep[]
}

/** Finds lines by the recorded content itself; null if the content was never recorded. */
export function exactLines(
  { record }: BlameInput,
  { path, oid, hashes }: BlameContent,
): (LineFinding | null)[] | null {
  const state = record.stateOf(path, oid)
  return (
    state &&
    hashes.map((_, at) => lineFindingOf(lineOf(state, at + 1)?.origin ?? null, 'exact', { rests: false }))
  )
}

/** Finds lines of a file that changed since it was recorded, by the lines that remain of its newest state. */
export function alignedLines(input: BlameInput, { path, hashes }: BlameContent): (LineFinding | null)[] {
  const file = wholeHashedFile(hashes)
  const lines: (LineFinding | null)[] = hashes.map(() => null)
  const [newest] = input.record.statesOf(path, 1)
  if (newest !== undefined) {
    const state = input.record.stateAfter(newest)
    for (const [at, { index, rests }] of matchLines(file, state)) {
      lines[at] = lineFindingOf(state.records[index]?.origin ?? null, 'aligned', { rests })
    }
  }
  // Lines that git brought into the newest state may be recorded in an earlier one.
  const wanted = new Set(hashes.filter((_, at) => lines[at] === null))
  const earlier = matchedLines(input, { path, hashes, wanted, before: Number.POSITIVE_INFINITY })
  return lines.map((line, at) => line ?? earlier[at] ?? null)
}

/** The lines of a content that git brought, by their number. */
export function broughtLines(
  { record }: BlameInput,
  { path, oid, hashes }: BlameContent,
): ReadonlyMap<number, BroughtBy> {
  const exact = record.stateOf(path, oid)
  const [newest] = exact === null ? record.statesOf(path, 1) : []
  const state = exact ?? (newest && record.stateAfter(newest))
  if (state === undefined || !state.records.some(({ brought }) => brought)) return new Map()
  const pairs =
    exact === null
      ? [...matchLines(wholeHashedFile(hashes), state)].map(([at, { index }]) => [at + 1, index] as const)
      : exact.lines.map((line, index) => [line, index] as const)
  return new Map(
    pairs.flatMap(([line, index]) => {
      const brought = state.records[index]?.brought
      return brought === undefined ? [] : [[line, brought] as const]
    }),
  )
}

const oneDay = 24 * 60 * 60 * 1000

/** Whether a commit is older than the record: then only its author is known. */
export function isBefore(
  { since }: Pick<BlameInput, 'since'>,
  { committedAt }: Pick<CommitOfLines, 'committedAt'>,
): boolean {
  return since === null || committedAt + 1000 <= since
}

/** Finds the lines that a commit brought, by the record; else they are its author's. */
export function committedLines(
  input: BlameInput,
  commit: CommitOfLines,
  {
    lines: blamed,
    wanted,
  }: { readonly lines: readonly CommittedLine[]; readonly wanted: ReadonlySet<string> },
): LineFinding[] {
  const author: LineFinding = { kind: 'author', how: 'git', origin: null, rests: false, commit: commit.id }
  if (isBefore(input, commit)) return blamed.map(() => ({ ...author, kind: 'before' }))
  const byPath = new Map(
    [...commit.contents].map(([path, content]) => [path, linesAt(input, commit, { path, content, wanted })]),
  )
  return blamed.map(({ path, line }) => {
    const finding = byPath.get(path)?.(line) ?? null
    return finding === null ? author : { ...finding, commit: commit.id }
  })
}

function linesAt(
  input: BlameInput,
  { committedAt }: CommitOfLines,
  {
    path,
    content: { oid, hashes },
    wanted,
  }: {
    readonly path: string
    readonly wanted: ReadonlySet<string>
    readonly content: { readonly oid: string | null; readonly hashes: readonly string[] | null }
  },
): (line: number) => LineFinding | null {
  const state = oid === null ? null : input.record.stateOf(path, oid)
  const lines =
    hashes === null ? null : matchedLines(input, { path, hashes, wanted, before: committedAt + oneDay })
  return (line) => {
    const exact =
      state === null ? null : lineFindingOf(lineOf(state, line)?.origin ?? null, 'exact', { rests: false })
    // Lines that git brought into a recorded state are looked up by their text again.
    return exact ?? lines?.[line - 1] ?? null
  }
}

const maxStates = 50

/** Finds lines of a content in recorded states of its path, the best match first. */
function matchedLines(
  input: BlameInput,
  {
    path,
    hashes,
    wanted,
    before,
  }: {
    readonly path: string
    readonly hashes: readonly string[]
    /** Hashes of the requested lines: a state without any of them is skipped. */
    readonly wanted: ReadonlySet<string>
    readonly before: number
  },
): (LineFinding | null)[] {
  const file = wholeHashedFile(hashes)
  const lines: (LineFinding | null)[] = hashes.map(() => null)
  const states = input.record
    .statesOf(path, maxStates)
    .filter(({ span }) => span.since < before)
    .map((step) => ({ step, state: input.record.stateAfter(step) }))
    .filter(({ state }) => hasAny(state, wanted))
  takeBest(file, states, lines)
  originElsewhere(input, file, { lines, path, before })
  return lines
}

function hasAny({ records }: LineState, wanted: ReadonlySet<string>): boolean {
  return records.some(({ hash, origin }) => origin !== null && hash !== null && wanted.has(hash))
}

function takeBest(
  file: HashedLines,
  states: readonly { readonly step: LineStep; readonly state: LineState }[],
  lines: (LineFinding | null)[],
  least = 1,
): void {
  const matches = states
    .map(({ step, state }) => ({ step, state, match: matchLines(file, state) }))
    .filter(({ match }) => countSolidLines(file, match.keys()) >= least)
    .sort((a, b) => b.match.size - a.match.size || b.step.seq - a.step.seq)
  for (const { state, match } of matches) {
    for (const [at, { index, rests }] of match) {
      lines[at] ??= lineFindingOf(state.records[index]?.origin ?? null, 'matched', { rests })
    }
  }
}

function countSolidLines({ hashes }: HashedLines, places: Iterable<number>): number {
  let solid = 0
  for (const at of places) if (isSolid(hashes[at] ?? '~')) solid += 1
  return solid
}

/** Looks for the remaining lines in other files: three solid lines together are no coincidence. */
function originElsewhere(
  { record, elsewhere }: BlameInput,
  file: HashedLines,
  {
    lines,
    path,
    before,
  }: { readonly lines: (LineFinding | null)[]; readonly path: string; readonly before: number },
): void {
  const states = elsewhere
    .filter((step) => step.path !== path && step.span.since < before)
    .slice(0, maxStates)
    .map((step) => ({ step, state: record.stateAfter(step) }))
  if (states.length > 0) takeBest(file, states, lines, minMovedLines)
}

function lineFindingOf(
  origin: LineOrigin | null,
  how: BlameMethod,
  { rests }: { readonly rests: boolean },
): LineFinding | null {
  if (origin === null) return null
  const isAgents = origin.owners.length > 0 || (origin.turns ?? []).length > 0
  return { kind: isAgents ? 'agent' : 'outside', how, origin, rests, commit: null }
}

/** The solid lines without an origin: they may have come from another file. */
export function unexplainedHashes(
  hashes: readonly string[],
  lines: readonly (LineFinding | null)[] | null,
): readonly string[] {
  return [...new Set(hashes.filter((hash, at) => isSolid(hash) && (lines?.[at] ?? null) === null))]
}

/** Whether a line is a person's: only if a person declared that every agent is recorded since a time. */
export function isHuman(
  { kind }: Pick<LineFinding, 'kind'>,
  committedAt: number | null,
  allSince: number | null,
): boolean {
  if (allSince === null || committedAt === null || committedAt < allSince) return false
  return kind === 'outside' || kind === 'author'
}
