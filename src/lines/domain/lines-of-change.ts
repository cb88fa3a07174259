import type { BroughtBy } from '../../track/domain/changes.ts'
import { align } from './alignment.ts'
import type { LineHunk, MeasuredStep, PackedHashes } from './line-hashes.ts'
import { isSolid } from './line-hashes.ts'

/** A changed file with the text of its removed and added lines: only on the machine with the file. */
export interface ChangedFile extends Pick<MeasuredStep, 'path' | 'from' | 'before' | 'after' | 'origin'> {
  /** How git brought some of its lines. */
  readonly broughtBy?: BroughtBy
  readonly hunks: readonly ChangedHunk[]
  /** Without hashes: only the positions of its lines are kept. */
  readonly isPlain: boolean
}

export interface ChangedHunk {
  /** The first line here, from 1. */
  readonly before: number
  readonly after: number
  readonly removed: readonly string[]
  readonly added: readonly string[]
  /** Unchanged lines beside it, by their number afterwards. */
  readonly around: readonly (readonly [line: number, text: string])[]
}

export interface LineHashContext {
  readonly hashOf: (line: string) => string
  /** Whether git brought an added line, or it is only known from elsewhere. */
  readonly originOfLine: (path: string, line: number) => 'brought' | 'alike' | null
}

/** Turns the changed files of one span into steps. */
export function measuredSteps(
  files: readonly ChangedFile[],
  { hashOf, originOfLine }: LineHashContext,
): MeasuredStep[] {
  const hashed = files.map((file) => hashedFile(file, hashOf))
  const moved = movedLines(hashed)
  return hashed.map(({ file, places }) => {
    const reformatted = places.flatMap(({ pairs }) => pairs)
    const came = moved.get(file.path) ?? []
    const rangesOf = (kind: 'brought' | 'alike') =>
      addedRanges(places, (line) => originOfLine(file.path, line) === kind)
    const [brought, alike] = [rangesOf('brought'), rangesOf('alike')]
    const around = new Map(places.flatMap((place) => place.around))
    const lines = [...around.keys()].sort((a, b) => a - b)
    return {
      path: file.path,
      ...(file.from !== undefined && { from: file.from }),
      before: file.before,
      after: file.after,
      origin: file.origin,
      hunks: places.map(({ hunk }) => hunk),
      added: packHashes(places.flatMap(({ added }) => added)),
      removed: packHashes(places.flatMap(({ removed }) => removed)),
      around: { lines, hashes: packHashes(lines.map((line) => around.get(line) ?? '')) },
      ...(reformatted.length > 0 && { reformatted }),
      ...(came.length > 0 && { moved: came }),
      ...(brought.length > 0 && { brought, broughtBy: file.broughtBy ?? {} }),
      ...(alike.length > 0 && { alike }),
    }
  })
}

interface HashedFile {
  readonly file: ChangedFile
  readonly places: readonly HashedHunk[]
}

interface HashedHunk {
  readonly hunk: LineHunk
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly around: readonly (readonly [number, string])[]
  /** Lines that only changed their white space. */
  readonly pairs: readonly (readonly [before: number, after: number])[]
}

function hashedFile(file: ChangedFile, hashOf: LineHashContext['hashOf']): HashedFile {
  return {
    file,
    places: file.hunks.map(({ before, after, removed, added, around }) => {
      const hunk: LineHunk = [before, removed.length, after, added.length]
      if (file.isPlain) return { hunk, added: [], removed: [], around: [], pairs: [] }
      const hashes = { removed: removed.map(hashOf), added: added.map(hashOf) }
      return {
        hunk,
        ...hashes,
        around: around.map(([line, text]) => [line, hashOf(text)] as const),
        pairs: pairsIgnoringSpace(hashes, { before, after }),
      }
    }),
  }
}

/** Pairs lines that differ only in white space: they keep their owner. */
function pairsIgnoringSpace(
  { removed, added }: { readonly removed: readonly string[]; readonly added: readonly string[] },
  { before, after }: { readonly before: number; readonly after: number },
): readonly (readonly [number, number])[] {
  if (removed.length === 0 || added.length === 0) return []
  return [...align(removed, added)].flatMap((to, at) => (to < 0 ? [] : [[before + at, after + to] as const]))
}

function packHashes(hashes: readonly string[]): PackedHashes {
  return hashes.join('')
}

function addedRanges(
  places: readonly HashedHunk[],
  isMeant: (line: number) => boolean,
): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = []
  for (const { hunk } of places) {
    const [, , after, count] = hunk
    for (let line = after; line < after + count; line += 1) {
      if (!isMeant(line)) continue
      const last = ranges.at(-1)
      if (last !== undefined && last[0] + last[1] === line) last[1] += 1
      else ranges.push([line, 1])
    }
  }
  return ranges
}

/** The number of adjacent solid lines that count as moved. */
export const minMovedLines = 3

interface LineLocation {
  readonly path: string
  readonly line: number
  readonly hash: string
}

/** Lines that moved, within a file or between files, by their new path. */
function movedLines(
  files: readonly HashedFile[],
): ReadonlyMap<string, readonly (readonly [string, number, number])[]> {
  const gone = new Map<string, LineLocation[]>()
  const runs = new Map<string, LineLocation>()
  for (const { file, places } of files) {
    const path = file.from ?? file.path
    for (const { hunk, removed, pairs } of places) {
      const stayed = new Set(pairs.map(([before]) => before))
      for (const [at, hash] of removed.entries()) {
        const line = hunk[0] + at
        if (stayed.has(line)) continue
        const location = { path, line, hash }
        runs.set(`${line} ${path}`, location)
        if (!isSolid(hash)) continue
        const sameHash = gone.get(hash)
        if (sameHash === undefined) gone.set(hash, [location])
        else sameHash.push(location)
      }
    }
  }
  const moved = new Map<string, (readonly [string, number, number])[]>()
  if (gone.size === 0) return moved
  const taken = new Set<LineLocation>()
  for (const [path, renamed] of renamedLines(files, gone)) {
    moved.set(
      path,
      renamed.map(([source, line]) => [source.path, source.line, line]),
    )
    for (const [source] of renamed) taken.add(runs.get(`${source.line} ${source.path}`) ?? source)
  }
  for (const { file, places } of files) {
    const came = new Set(moved.get(file.path)?.map(([, , line]) => line))
    for (const { hunk, added, pairs } of places) {
      const stayed = new Set([...pairs.map(([, after]) => after), ...came])
      for (let at = 0; at < added.length; ) {
        const run = maxRunLength({ added, at, first: hunk[2], stayed }, { gone, runs, taken })
        for (const [offset, location] of run.entries()) {
          taken.add(location)
          const list = moved.get(file.path) ?? []
          list.push([location.path, location.line, hunk[2] + at + offset])
          moved.set(file.path, list)
        }
        at += Math.max(1, run.length)
      }
    }
    moveUnique(file, places, { moved, taken, runs })
  }
  return moved
}

/** A solid line that a file lost once and has once more is the same one, among however many repeated ones. */
function moveUnique(
  { path, from = path }: ChangedFile,
  places: readonly HashedHunk[],
  {
    moved,
    taken,
    runs,
  }: {
    readonly moved: Map<string, (readonly [string, number, number])[]>
    readonly taken: Set<LineLocation>
    readonly runs: ReadonlyMap<string, LineLocation>
  },
): void {
  const came = new Set(moved.get(path)?.map(([, , line]) => line))
  const added = Map.groupBy(addedLines(places), ({ hash }) => hash)
  const removed = Map.groupBy(removedLines(from, places), ({ hash }) => hash)
  for (const [hash, [source, ...more]] of removed) {
    const [target, ...others] = added.get(hash) ?? []
    if (source === undefined || target === undefined || more.length + others.length > 0) continue
    const location = runs.get(`${source.line} ${from}`)
    if (!isSolid(hash) || came.has(target.line) || location === undefined || taken.has(location)) continue
    taken.add(location)
    moved.set(path, [...(moved.get(path) ?? []), [from, source.line, target.line]])
  }
}

/**
 * A removed file and an added one are a renamed file if three solid lines, or half of the removed lines, are in the
 * added one, in order. If one of the two paths still exists or existed before, both conditions must hold.
 */
function renamedLines(
  files: readonly HashedFile[],
  gone: ReadonlyMap<string, readonly LineLocation[]>,
): ReadonlyMap<string, readonly (readonly [source: LineLocation, line: number])[]> {
  const went = new Map<string, readonly LineLocation[]>()
  const lost = new Map<string, readonly LineLocation[]>()
  for (const { file, places } of files) {
    if (file.before === null) continue
    const name = file.from ?? file.path
    const left = file.after === null ? went : lost
    left.set(name, removedLines(name, places))
  }
  const came = files.filter(({ file }) => file.before === null)
  const changed = files.filter(({ file }) => file.before !== null && file.after !== null)
  const renames = new Map<string, readonly (readonly [LineLocation, number])[]>()
  for (const { targets, left, mayBeFew } of [
    { targets: came, left: went, mayBeFew: true },
    { targets: came, left: lost, mayBeFew: false },
    { targets: changed, left: went, mayBeFew: false },
  ]) {
    for (const { file, places } of targets) {
      if (left.size === 0 || renames.has(file.path)) continue
      const added = addedLines(places)
      const name = likeliestSource(added, gone, left)
      const lines = left.get(name ?? '')
      if (name === null || lines === undefined) continue
      const same = sameLines(lines, added)
      const kept = countSolid(same.map(([source]) => source))
      const isHalf = kept * 2 >= countSolid(lines)
      const isEnough = mayBeFew ? kept >= minMovedLines || isHalf : kept >= minMovedLines && isHalf
      if (kept === 0 || !isEnough) continue
      renames.set(file.path, same)
      left.delete(name)
    }
  }
  return renames
}

function sameLines(
  lines: readonly LineLocation[],
  added: readonly AddedLine[],
): readonly (readonly [source: LineLocation, line: number])[] {
  const pairs = align(
    lines.map(({ hash }) => hash),
    added.map(({ hash }) => hash),
  )
  return lines.flatMap((source, at) => {
    const line = added[pairs[at] ?? -1]?.line
    return line === undefined ? [] : [[source, line] as const]
  })
}

function countSolid(lines: readonly LineLocation[]): number {
  return lines.filter(({ hash }) => isSolid(hash)).length
}

/** The removed lines, without those that only changed their white space. */
function removedLines(path: string, places: readonly HashedHunk[]): readonly LineLocation[] {
  return places.flatMap(({ removed, hunk, pairs }) => {
    const stayed = new Set(pairs.map(([before]) => before))
    const all = removed.map((hash, at) => ({ path, line: hunk[0] + at, hash }))
    return all.filter(({ line }) => !stayed.has(line))
  })
}

interface AddedLine {
  readonly hash: string
  readonly line: number
}

function addedLines(places: readonly HashedHunk[]): readonly AddedLine[] {
  return places.flatMap(({ added, hunk, pairs }) => {
    const stayed = new Set(pairs.map(([, after]) => after))
    return added.map((hash, at) => ({ hash, line: hunk[2] + at })).filter(({ line }) => !stayed.has(line))
  })
}

/** The file that most of the added lines come from. */
function likeliestSource(
  added: readonly { readonly hash: string }[],
  gone: ReadonlyMap<string, readonly LineLocation[]>,
  left: ReadonlyMap<string, unknown>,
): string | null {
  const counts = new Map<string, number>()
  for (const hash of new Set(added.map((line) => line.hash))) {
    const paths = new Set((gone.get(hash) ?? []).slice(0, maxSources).map(({ path }) => path))
    for (const path of paths) if (left.has(path)) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  const [best] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  return best?.[0] ?? null
}

const maxSources = 20

function maxRunLength(
  {
    added,
    at,
    first,
    stayed,
  }: {
    readonly added: readonly string[]
    readonly at: number
    readonly first: number
    readonly stayed: ReadonlySet<number>
  },
  {
    gone,
    runs,
    taken,
  }: {
    readonly gone: ReadonlyMap<string, readonly LineLocation[]>
    readonly runs: ReadonlyMap<string, LineLocation>
    readonly taken: ReadonlySet<LineLocation>
  },
): readonly LineLocation[] {
  let best: readonly LineLocation[] = []
  for (const source of (gone.get(added[at] ?? '') ?? []).slice(0, maxSources)) {
    const run: LineLocation[] = []
    for (let offset = 0; at + offset < added.length; offset += 1) {
      const location = runs.get(`${source.line + offset} ${source.path}`)
      if (location === undefined || location.hash !== added[at + offset]) break
      if (taken.has(location) || stayed.has(first + at + offset)) break
      run.push(location)
    }
    const solid = run.filter(({ hash }) => isSolid(hash)).length
    if (solid >= minMovedLines && run.length > best.length) best = run
  }
  return best
}
