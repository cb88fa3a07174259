import { align } from './alignment.ts'
import { isSolid } from './line-hashes.ts'
import { minMovedLines } from './lines-of-change.ts'
import { type LineState, matchLines, wholeHashedFile } from './record.ts'

/** A content that a file had before an interval, or has elsewhere: in a commit, a stash or another work tree. */
export interface KnownVersion {
  readonly hashes: readonly string[]
  /** Git certainly wrote it here: by a merge, a pull or a switch of branches. */
  readonly isArrived: boolean
  /** What HEAD had before the interval: a discard brings it back without a trace. */
  readonly isBase: boolean
  /** Of a file with another name: enough of its lines must be the same. */
  readonly isOtherName: boolean
  /** Of a commit that was made here, and perhaps elsewhere before: its lines are only alike. */
  readonly isUnsure?: boolean
  /** Its lines that are from commits of the interval itself, by their number from 1. */
  readonly own?: ReadonlySet<number>
  /** A commit that has it, if one is known. */
  readonly commit?: string
}

/** How git may have written a file in an interval. */
export type GitTrace =
  /** A command that brings lines ran, and HEAD, the index or the stash changed for this file. */
  | 'command'
  /** The file was committed or staged. */
  | 'commit'
  | 'none'

export interface VersionedFile {
  /** The hashes of all its lines. */
  readonly hashes: readonly string[]
  /** The lines that the interval added, by their number from 1. */
  readonly added: ReadonlySet<number>
  readonly trace: GitTrace
}

export interface KnownLines {
  /** Lines that git brought. */
  readonly brought: ReadonlySet<number>
  /** Lines that a version has too, without evidence that git brought them: someone may have copied them. */
  readonly alike: ReadonlySet<number>
  /** The commit that all brought lines are from, if it is one and known. */
  readonly commit?: string
}

/**
 * The added lines of a file that stand in one of its versions, in the same order. The less evidence there is that git
 * wrote the file, the more lines must be the same.
 */
export function knownLines(file: VersionedFile, versions: readonly KnownVersion[]): KnownLines {
  const brought = new Set<number>()
  const alike = new Set<number>()
  const commits = new Set<string | undefined>()
  const wanted = new Set([...file.added].map((line) => file.hashes[line - 1] ?? '').filter(isSolid))
  for (const version of versions) {
    if (!version.isArrived && !version.hashes.some((hash) => wanted.has(hash))) continue
    const same = sameLines(file, version)
    const own = [...same].filter(([line, to]) => file.added.has(line) && !version.own?.has(to))
    if (version.isOtherName && !isSameFile(file, version, same.size)) continue
    for (const [line] of own) alike.add(line)
    if (version.isUnsure) continue
    const isEnough = version.isArrived || file.trace === 'command' || isWhole(file, version, own)
    const known = brought.size
    for (const [line] of isEnough ? own : longRuns(file, own)) brought.add(line)
    if (brought.size > known) commits.add(version.commit)
  }
  for (const line of brought) alike.delete(line)
  const [commit, ...more] = commits
  return { brought, alike, ...(commit !== undefined && more.length === 0 && { commit }) }
}

/** Pairs of a line of the file and the same one of a version. */
function sameLines({ hashes }: VersionedFile, version: KnownVersion): ReadonlyMap<number, number> {
  if (version.isArrived) {
    const pairs = [...align(hashes, version.hashes)]
    return new Map(pairs.flatMap((to, at) => (to < 0 ? [] : [[at + 1, to + 1] as const])))
  }
  const { lines, hashes: all } = wholeHashedFile(version.hashes)
  const state: LineState = { lines, records: all.map((hash) => ({ hash, origin: null })) }
  const matches = [...matchLines(wholeHashedFile(hashes), state)]
  return new Map(matches.map(([at, { index }]) => [at + 1, index + 1]))
}

/** Three lines, or half of either file. */
function isSameFile({ hashes }: VersionedFile, version: KnownVersion, same: number): boolean {
  return same > 0 && (same >= minMovedLines || same * 2 >= Math.min(hashes.length, version.hashes.length))
}

/** Whether a committed file has all lines of a version that it did not have before. */
function isWhole(
  { hashes, added, trace }: VersionedFile,
  version: KnownVersion,
  own: readonly (readonly [number, number])[],
): boolean {
  if (trace === 'none' && !version.isBase) return false
  const earlier = new Set(hashes.filter((_, at) => !added.has(at + 1)))
  const came = new Set([...own.map(([, line]) => line), ...(version.own ?? [])])
  return version.hashes.every((hash, at) => !isSolid(hash) || earlier.has(hash) || came.has(at + 1))
}

/** Runs of three solid lines, adjacent in both. */
function longRuns(
  { hashes }: VersionedFile,
  own: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  const runs: (readonly [number, number])[][] = []
  for (const pair of own.toSorted(([a], [b]) => a - b)) {
    const [line, other] = runs.at(-1)?.at(-1) ?? [-1, -1]
    if (pair[0] === line + 1 && pair[1] === other + 1) runs.at(-1)?.push(pair)
    else runs.push([pair])
  }
  const solid = (run: readonly (readonly [number, number])[]) =>
    run.filter(([line]) => isSolid(hashes[line - 1] ?? '')).length
  return runs.filter((run) => solid(run) >= minMovedLines).flat()
}
