import { isSecretFile } from '../kernel/secret-files.ts'
import type { MeasuredLines, MeasuredStep } from '../lines/domain/line-hashes.ts'
import { type ChangedFile, type ChangedHunk, measuredSteps } from '../lines/domain/lines-of-change.ts'
import { objectIds } from './blobs.ts'
import {
  type BroughtLines,
  findBrought,
  type GitMovement,
  movementOf,
  noMovement,
  nothingBrought,
} from './brought.ts'
import {
  compareSnapshots,
  comparisonPlace,
  type Difference,
  type RepositoryPair,
  reconcileIgnored,
  repositoryPairs,
  type SnapshotPair,
} from './comparison.ts'
import { type PathChange, patchesOf } from './diff.ts'
import { lineHasher } from './line-hash.ts'
import { ownCommits } from './origin.ts'
import { displayPath, type PathBytes, pathBytes } from './paths.ts'
import type { LineMeasureOptions } from './ports/work-tree.ts'
import type { PrivateDirectory } from './private-directory.ts'
import type { GitEnvironment } from './process.ts'
import type { DiskState } from './recorded-state.ts'
import { withReindented } from './reindented.ts'

// Over these limits, the lines of a change are not worth storing.
const maxFiles = 5_000
const maxLines = 5_000
const maxHashed = 400_000

/** Measures the removed and added lines of a work tree between two snapshots. */
export async function measureLines(
  span: SnapshotPair,
  environment: GitEnvironment,
  request: LineMeasureOptions,
): Promise<MeasuredLines> {
  const place = comparisonPlace(span, environment)
  const [pair] = repositoryPairs(span)
  const compared = await compareSnapshots(span, place)
  const { differences } = reconcileIgnored(span, compared.values())
  const movement = pair === undefined ? noMovement : await movementOf(place, pair, request.during)
  const { steps, notes } = await stepsOf(place, { differences, span }, { ...movement, request, pair })
  const { headBefore, headAfter, stashMoved, ran, arrived } = movement
  // A renaming sets the time of a change, and leaves the time when the content was written.
  const renamed = new Set(steps.flatMap(({ path, from }) => (from === undefined ? [] : [path])))
  const times = differences.flatMap(({ path, entryAfter }) => {
    const stat = entryAfter?.disk?.stat
    const name = displayPath(path)
    return stat ? [[name, renamed.has(name) ? stat.modified : stat.changed] as const] : []
  })
  return { headBefore, headAfter, stashMoved, ran, broughtFrom: arrived, steps, times, notes }
}

interface LineStepContext extends GitMovement {
  readonly request: LineMeasureOptions
  /** The work tree's own repository. */
  readonly pair: RepositoryPair | undefined
}

interface HashContext {
  readonly differences: ReadonlyMap<PathBytes, Difference>
  readonly doubtful: ReadonlySet<PathBytes>
  readonly hashOf: (line: string) => string
  /** How many lines were hashed so far. */
  hashed: number
}

async function stepsOf(
  place: PrivateDirectory,
  { differences, span }: { readonly differences: readonly Difference[]; readonly span: SnapshotPair },
  context: LineStepContext,
): Promise<{ readonly steps: readonly MeasuredStep[]; readonly notes: readonly string[] }> {
  const open = differences.filter(({ path }) => !isSecretFile(displayPath(path)))
  const wanted = open.map(regularOnly).filter(({ before, after }) => before !== null || after !== null)
  const some = wanted.slice(0, maxFiles)
  const notes =
    wanted.length > some.length
      ? [
          `The lines of ${wanted.length - some.length} of ${wanted.length} changed files are not recorded: there are too many.`,
        ]
      : []
  const hashing: HashContext = {
    differences: new Map(open.map((one) => [one.path, one])),
    doubtful: new Set(open.filter(isDoubtful).map(({ path }) => path)),
    hashOf: lineHasher(context.request.salt),
    hashed: 0,
  }
  const { chains, explained, renamed } = await traceKnownChains(place, some, context.request.chains ?? [])
  const starts = some
    .filter(({ path }) => !renamed.has(path))
    .map((pair) => chains.get(pair.path)?.links[0] ?? pair)
  const staged = new Map(open.flatMap((one) => isStagedSince(one)))
  const isFirstReported = (path: PathBytes) => chains.get(path)?.reported[0] ?? explained.has(path)
  const fromOf = (path: PathBytes) => chains.get(path)?.from
  const first = await groupSteps(place, starts, { context, hashing, fromOf, isReported: isFirstReported })
  const steps = first.map((step): MeasuredStep => {
    const path = pathBytes(step.path)
    const chain = chains.get(path)
    if (chain !== undefined) {
      return { ...step, ...(chain.from !== undefined && { from: displayPath(chain.from) }), link: 0 }
    }
    const index = staged.get(path)
    return index === undefined ? step : { ...step, staged: index }
  })
  const longest = Math.max(0, ...[...chains.values()].map(({ links }) => links.length))
  for (let link = 1; link < longest; link += 1) {
    const pairs = [...chains.values()].flatMap(({ links }) => links[link] ?? [])
    const isReported = (path: PathBytes) => chains.get(path)?.reported[link] === true
    const linkSteps = await groupSteps(place, pairs, { context, hashing, fromOf, isReported, areApart: true })
    steps.push(...linkSteps.map((step) => ({ ...step, link })))
  }
  for (const pairs of await statesPassedThrough(place, { span, some, context })) {
    steps.push(...(await groupSteps(place, pairs, { context, hashing })))
  }
  return { steps: steps.slice(0, maxFiles), notes }
}

async function groupSteps(
  place: PrivateDirectory,
  pairs: readonly PathChange[],
  {
    context,
    hashing,
    fromOf = () => undefined,
    isReported = () => false,
    areApart = false,
  }: {
    readonly context: LineStepContext
    readonly hashing: HashContext
    /** The old path of a file that was renamed between reported contents. */
    readonly fromOf?: (path: PathBytes) => PathBytes | undefined
    /** Whether a hook reported the change of a path: nothing else explains its lines. */
    readonly isReported?: (path: PathBytes) => boolean
    /** The pairs are from different times, so no line moves between them. */
    readonly areApart?: boolean
  },
): Promise<MeasuredStep[]> {
  if (pairs.length === 0) return []
  const changed = await withReindented(place, (await patchesOf(place, pairs)).changed)
  const open = changed
    .filter(({ path }) => !isReported(path))
    .map((one) => {
      const from = one.from ?? fromOf(one.path)
      return from === undefined ? one : { ...one, from }
    })
  const { pair: repository } = context
  const brought =
    repository === undefined
      ? nothingBrought
      : await findBrought(place, {
          changed: open,
          differences: hashing.differences,
          movement: context,
          pair: repository,
          during: context.request.during,
        })
  const files = changed.map(({ path, from, before, after, places, isText }): ChangedFile => {
    const size = places.reduce((sum, { removed, added }) => sum + removed.length + added.length, 0)
    const isTooMuch = size > maxLines || hashing.hashed + size > maxHashed
    const isPlain = !isText || isTooMuch || hashing.doubtful.has(path) || isPointer(places)
    if (!isPlain) hashing.hashed += size
    return {
      path: displayPath(path),
      ...(from !== undefined && { from: displayPath(from) }),
      before,
      after,
      origin: originOf(brought, path, context.request.during),
      broughtBy: brought.by(path),
      hunks: places,
      isPlain,
    }
  })
  const byName = new Map(changed.map(({ path }) => [displayPath(path), path]))
  const originOfLine = (path: string, line: number): 'brought' | 'alike' | null => {
    const name = byName.get(path) ?? path
    if (brought.isWhole(name)) return 'brought'
    const lines = brought.lines(name)
    if (lines?.brought.has(line)) return 'brought'
    return context.request.during === 'attempt' && lines?.alike.has(line) ? 'alike' : null
  }
  const hashContext = { hashOf: hashing.hashOf, originOfLine }
  const steps = areApart
    ? files.flatMap((file) => measuredSteps([file], hashContext))
    : measuredSteps(files, hashContext)
  return steps.map((step) => (isReported(pathBytes(step.path)) ? { ...step, reported: true } : step))
}

function originOf(
  brought: BroughtLines,
  path: PathBytes,
  during: LineMeasureOptions['during'],
): MeasuredStep['origin'] {
  if (during === 'attempt' && brought.isWhole(path)) return 'imported'
  return brought.isWhole(path) || (brought.lines(path)?.brought.size ?? 0) > 0 ? 'mixed' : 'task'
}

/** The successive contents of a path, as pairs in order, and which of the changes a hook reported. */
interface KnownChain {
  readonly links: readonly PathChange[]
  readonly reported: readonly boolean[]
  /** The old path of a renamed file. */
  readonly from?: PathBytes
}

interface KnownChains {
  readonly chains: ReadonlyMap<PathBytes, KnownChain>
  /** Paths whose whole change one report explains. */
  readonly explained: ReadonlySet<PathBytes>
  /** Old paths of renamed files, whose contents are in the chain of the new path. */
  readonly renamed: ReadonlySet<PathBytes>
}

/** The chains of contents that are all available. A rename moves the contents of a path with it. */
async function traceKnownChains(
  place: PrivateDirectory,
  pairs: readonly PathChange[],
  known: NonNullable<LineMeasureOptions['chains']>,
): Promise<KnownChains> {
  const byPath = new Map(pairs.map((pair) => [pair.path, pair]))
  const fitting = known.flatMap((chain) => {
    const pair = byPath.get(pathBytes(chain.path))
    const fits =
      pair !== undefined &&
      (pair.before?.oid ?? null) === chain.contents[0] &&
      (pair.after?.oid ?? null) === chain.contents.at(-1)
    return fits ? [{ ...chain, pair }] : []
  })
  const byName = new Map(fitting.map((chain): [PathBytes, ContentChain] => [chain.pair.path, chain]))
  const { chains: requests, renamed } = joinRenamed(byName, pairs)
  const wanted = [
    ...new Set([...requests.values()].flatMap(({ contents }) => contents.filter((oid) => oid !== null))),
  ]
  const ids = await objectIds(place, wanted)
  const existing = new Set(wanted.filter((_, at) => ids[at] !== null))
  const chains = new Map<PathBytes, KnownChain>()
  const explained = new Set<PathBytes>()
  for (const [path, { pair, contents, reported, from }] of requests) {
    if (from === undefined && contents.length === 2 && reported[0]) explained.add(path)
    if (from === undefined && contents.length <= 2) continue
    if (!contents.every((oid) => oid === null || existing.has(oid))) {
      if (from !== undefined) renamed.delete(from)
      continue
    }
    const mode = pair.after?.mode ?? pair.before?.mode ?? '100644'
    const states = contents.map((oid): DiskState | null => (oid === null ? null : { mode, oid }))
    const links = states.slice(1).map((after, at) => ({ path, before: states[at] ?? null, after }))
    chains.set(path, { links, reported, ...(from !== undefined && { from }) })
  }
  return { chains, explained, renamed }
}

interface ContentChain {
  readonly pair: PathChange
  readonly contents: readonly (string | null)[]
  readonly reported: readonly boolean[]
  readonly from?: PathBytes
}

function joinRenamed(
  chains: Map<PathBytes, ContentChain>,
  pairs: readonly PathChange[],
): { readonly chains: ReadonlyMap<PathBytes, ContentChain>; readonly renamed: Set<PathBytes> } {
  const renamed = new Set<PathBytes>()
  const come = pairs.filter(({ before, after }) => before === null && after !== null)
  const starts = new Set(pairs.map(({ before }) => before?.oid))
  for (const [path, { pair, contents, reported }] of chains) {
    const isTaken = (oid: string | null, at: number) =>
      at > 0 && reported[at - 1] !== true && oid !== null && oid !== pair.before?.oid && starts.has(oid)
    // Another file took this name: the whole change tells which lines came with it.
    if (pair.before !== null && contents.some(isTaken)) chains.delete(path)
  }
  for (const gone of pairs.filter(({ before, after }) => before !== null && after === null)) {
    const left = chains.get(gone.path)
    const contents = left?.contents.slice(0, -1) ?? [gone.before?.oid ?? null]
    const content = contents.at(-1)
    const target = come.find(({ path, after }) => {
      const chain = chains.get(path)
      const first = chain === undefined ? after?.oid : chain.reported[0] ? null : chain.contents[1]
      return content !== null && first === content && chain?.from === undefined
    })
    const own = target && chains.get(target.path)
    if (target !== undefined && (left !== undefined || own !== undefined)) {
      chains.set(target.path, {
        pair: target,
        contents: [...contents, ...(own?.contents.slice(2) ?? [])],
        reported: [...(left?.reported.slice(0, -1) ?? []), ...(own?.reported.slice(1) ?? [])],
        from: gone.path,
      })
      renamed.add(gone.path)
    }
    // Where it went is unknown: git finds a renamed file only by the whole change.
    if (left !== undefined && come.length > 0) chains.delete(gone.path)
  }
  return { chains, renamed }
}

// For an attempt with more commits, the last ones are enough.
const maxCommits = 20

/**
 * The committed states that an attempt did not end with, as it continued or switched to another branch. For each such
 * commit, pairs of the files at the start and in the commit.
 */
async function statesPassedThrough(
  place: PrivateDirectory,
  {
    span,
    some,
    context: { entries, request },
  }: {
    readonly span: SnapshotPair
    readonly some: readonly PathChange[]
    readonly context: LineStepContext
  },
): Promise<readonly (readonly PathChange[])[]> {
  const [from] = span.from.repositories
  if (request.during === 'gap' || entries.length === 0 || from === undefined) return []
  const commits = await ownCommits(place, entries, maxCommits)
  const requests = [...commits].flatMap(([commit, paths]) =>
    paths.filter((path) => !isSecretFile(displayPath(path))).map((path) => ({ commit, path })),
  )
  if (requests.length === 0 || requests.length > maxFiles) return []
  const paths = [...new Set(requests.map(({ path }) => path))]
  const names = [
    ...requests.map(({ commit, path }) => `${commit}:${path}`),
    ...(from.head === null ? [] : paths.map((path) => `${from.head}:${path}`)),
  ]
  const ids = await objectIds(place, names)
  const ends = new Map(some.map(({ path, after }) => [path, after?.oid ?? null]))
  const starts = new Map(
    paths.map((path, at) => {
      const entry = from.overlay.get(path)
      const inHead = ids[requests.length + at] ?? null
      const state = inHead === null ? null : { mode: '100644', oid: inHead }
      return [path, entry === undefined ? state : regularState(entry.disk)] as const
    }),
  )
  const seen = new Set<string>()
  const groups = new Map<string, PathChange[]>()
  for (const [at, { commit, path }] of requests.entries()) {
    const oid = ids[at] ?? null
    const before = starts.get(path) ?? null
    // A file may have moved to another path, so each commit also lists the deleted ones.
    const isGone = oid === null && before !== null
    const isNews =
      oid !== null && oid !== before?.oid && oid !== ends.get(path) && !seen.has(`${oid} ${path}`)
    if (!isNews && !isGone) continue
    if (oid !== null) seen.add(`${oid} ${path}`)
    const after = oid === null ? null : { mode: '100644', oid }
    groups.set(commit, [...(groups.get(commit) ?? []), { path, before, after }])
  }
  return [...groups.values()].filter((pairs) => pairs.some(({ after }) => after !== null))
}

/** The new content of a path in the index, if it differs from the start, the end and HEAD. */
function isStagedSince({
  path,
  before,
  headBefore,
  headAfter,
  entryBefore,
  entryAfter,
}: Difference): readonly (readonly [PathBytes, string])[] {
  const index = entryAfter?.index
  if (index === undefined || index === before?.oid || index === headAfter?.oid) return []
  const earlier = entryBefore?.index ?? (entryBefore?.staged ? entryBefore.disk : headBefore)?.oid
  return index === earlier ? [] : [[path, index]]
}

/** Only regular files have lines. */
function regularOnly({ path, before, after }: Difference): PathChange {
  return { path, before: regularState(before), after: regularState(after) }
}

function regularState(state: DiskState | null): DiskState | null {
  return state?.mode.startsWith('100') && state.oid !== null && state.unkept !== true ? state : null
}

function isDoubtful({ entryBefore, entryAfter }: Difference): boolean {
  return entryBefore?.uncertain !== undefined || entryAfter?.uncertain !== undefined
}

function isPointer(places: readonly ChangedHunk[]): boolean {
  const lines = [...(places[0]?.added ?? []), ...(places[0]?.removed ?? [])]
  return lines.some((line) => line.startsWith('version https://git-lfs.github.com/'))
}
