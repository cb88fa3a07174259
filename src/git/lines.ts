import { isSecretFile } from '../kernel/secret-files.ts'
import { align } from '../lines/domain/alignment.ts'
import type { MeasuredLines, MeasuredStep } from '../lines/domain/line-hashes.ts'
import { type ChangedFile, type ChangedHunk, measuredSteps } from '../lines/domain/lines-of-change.ts'
import { objectIds } from './blobs.ts'
import {
  compareSnapshots,
  comparisonPlace,
  type Difference,
  type RepositoryPair,
  reconcileIgnored,
  repositoryPairs,
  type SnapshotPair,
} from './comparison.ts'
import { diffContents, type PathChange, patchesOf, textOnly } from './diff.ts'
import { type ReflogEntry, reflogBetween } from './git-folder.ts'
import { lineHasher } from './line-hash.ts'
import { arrivedCommits, ownCommits } from './origin.ts'
import { type ChangedContent, parsePatch, patchForm } from './patch.ts'
import { displayPath, type PathBytes, pathBytes } from './paths.ts'
import type { LineMeasureOptions } from './ports/work-tree.ts'
import type { PrivateDirectory } from './private-directory.ts'
import type { GitEnvironment } from './process.ts'
import type { DiskState } from './recorded-state.ts'
import type { GitState } from './status.ts'

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
  const movement = await movementOf(place, pair, request)
  const committed = committedOids(differences, span)
  const { steps, notes } = await stepsOf(place, { differences, span }, { ...movement, request, committed })
  const { headBefore, headAfter, stashMoved, ran, arrived } = movement
  return { headBefore, headAfter, stashMoved, ran, broughtFrom: arrived, steps, notes }
}

interface HeadMovement {
  readonly headBefore: string | null
  readonly headAfter: string | null
  readonly stashMoved: boolean
  readonly ran: boolean
  /** Commits that git brought from elsewhere. */
  readonly arrived: readonly string[]
  /** How HEAD moved. */
  readonly entries: readonly ReflogEntry[]
}

async function movementOf(
  place: PrivateDirectory,
  pair: RepositoryPair | undefined,
  { during }: LineMeasureOptions,
): Promise<HeadMovement> {
  if (pair === undefined) {
    return { headBefore: null, headAfter: null, stashMoved: false, ran: false, arrived: [], entries: [] }
  }
  const { from, to } = pair
  const entries = await reflogBetween(to.reflog, from.reflogPosition, to.reflogPosition)
  const isKnown = from.refs !== null && to.refs !== null
  const stashMoved = isKnown && from.refs?.stash !== to.refs?.stash
  const doing = JSON.stringify(from.operation) !== JSON.stringify(to.operation)
  const ran = stashMoved || doing || from.head !== to.head || (entries?.length ?? 0) > 0
  const underway = [...(to.operation?.commits ?? []), ...(to.operation?.picked ?? [])]
  const arrived = during === 'gap' ? underway : [...(await arrivedCommits(place, entries ?? [])), ...underway]
  return {
    headBefore: from.head,
    headAfter: to.head,
    stashMoved,
    ran,
    arrived: [...new Set(arrived)],
    entries: entries ?? [],
  }
}

interface LineStepContext extends HeadMovement {
  readonly request: LineMeasureOptions
  /** The content in HEAD at the end, for the paths that differ. */
  readonly committed: ReadonlyMap<PathBytes, string | null>
}

/** Only of the repository itself, as a nested one has another HEAD. */
function committedOids(
  differences: readonly Difference[],
  { to }: SnapshotPair,
): ReadonlyMap<PathBytes, string | null> {
  const nested = to.repositories.flatMap(({ prefix }) => (prefix === '' ? [] : [prefix]))
  return new Map(
    differences
      .filter(({ path }) => !nested.some((prefix) => path.startsWith(prefix)))
      .map(({ path, headAfter }) => [path, fileIn(headAfter)]),
  )
}

function fileIn(state: GitState | null): string | null {
  return state === null || state.mode === '160000' ? null : state.oid
}

interface HashContext {
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
    doubtful: new Set(open.filter(isDoubtful).map(({ path }) => path)),
    hashOf: lineHasher(context.request.salt),
    hashed: 0,
  }
  const chains = await traceKnownChains(place, some, context.request.chains ?? [])
  const starts = some.map((pair) => chains.get(pair.path)?.[0] ?? pair)
  const staged = new Map(open.flatMap((one) => isStagedSince(one)))
  const steps = (await groupSteps(place, starts, { context, hashing })).map((step): MeasuredStep => {
    const path = pathBytes(step.path)
    if (chains.has(path)) return { ...step, link: 0 }
    const index = staged.get(path)
    return index === undefined ? step : { ...step, staged: index }
  })
  const longest = Math.max(0, ...[...chains.values()].map(({ length }) => length))
  for (let link = 1; link < longest; link += 1) {
    const pairs = [...chains.values()].flatMap((chain) => chain[link] ?? [])
    const linkSteps = await groupSteps(place, pairs, { context, hashing, areApart: true })
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
    areApart = false,
  }: {
    readonly context: LineStepContext
    readonly hashing: HashContext
    /** The pairs are from different times, so no line moves between them. */
    readonly areApart?: boolean
  },
): Promise<MeasuredStep[]> {
  if (pairs.length === 0) return []
  const { changed } = await patchesOf(place, pairs)
  const references = await referencesOf(place, { changed, pairs, context })
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
      origin: references.origin(path),
      hunks: places,
      isPlain,
    }
  })
  const byName = new Map(changed.map(({ path }) => [displayPath(path), path]))
  const isBrought = (path: string, line: number): boolean =>
    references.isBrought(byName.get(path) ?? path, line)
  const hashContext = { hashOf: hashing.hashOf, isBrought }
  return areApart
    ? files.flatMap((file) => measuredSteps([file], hashContext))
    : measuredSteps(files, hashContext)
}

/** The chains of contents that are all available, each as pairs in order from the first state to the last. */
async function traceKnownChains(
  place: PrivateDirectory,
  pairs: readonly PathChange[],
  chains: NonNullable<LineMeasureOptions['chains']>,
): Promise<ReadonlyMap<PathBytes, readonly PathChange[]>> {
  const byPath = new Map(pairs.map((pair) => [pair.path, pair]))
  const requests = chains.flatMap(({ path, contents }) => {
    const pair = byPath.get(pathBytes(path))
    const fits =
      pair !== undefined &&
      (pair.before?.oid ?? null) === contents[0] &&
      (pair.after?.oid ?? null) === contents.at(-1)
    return fits && contents.length > 2 ? [{ pair, contents }] : []
  })
  const wanted = [...new Set(requests.flatMap(({ contents }) => contents.filter((oid) => oid !== null)))]
  const ids = await objectIds(place, wanted)
  const existing = new Set(wanted.filter((_, at) => ids[at] !== null))
  return new Map(
    requests
      .filter(({ contents }) => contents.every((oid) => oid === null || existing.has(oid)))
      .map(({ pair, contents }) => {
        const mode = pair.after?.mode ?? pair.before?.mode ?? '100644'
        const states = contents.map((oid): DiskState | null => (oid === null ? null : { mode, oid }))
        const links = states
          .slice(1)
          .map((after, at): PathChange => ({ path: pair.path, before: states[at] ?? null, after }))
        return [pair.path, links] as const
      }),
  )
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

interface ChangeOriginLookup {
  readonly origin: (path: PathBytes) => MeasuredStep['origin']
  readonly isBrought: (path: PathBytes, line: number) => boolean
}

// For an attempt that switched branches often, the last commits are enough.
const maxReferences = 12

/** Compares the changed paths with the commits that git brought. */
async function referencesOf(
  place: PrivateDirectory,
  {
    changed,
    pairs: states,
    context,
  }: {
    readonly changed: readonly ChangedContent[]
    readonly pairs: readonly PathChange[]
    readonly context: LineStepContext
  },
): Promise<ChangeOriginLookup> {
  const { arrived, headAfter, request } = context
  const isGap = request.during === 'gap'
  const commits = [...(isGap && headAfter !== null ? [headAfter] : []), ...arrived].slice(-maxReferences)
  const live = changed.filter(
    ({ after, places }) => after !== null && places.some(({ added }) => added.length > 0),
  )
  if (commits.length === 0 || live.length === 0) {
    return { origin: () => 'task', isBrought: () => false }
  }
  const modes = new Map(states.map(({ path, after }) => [path, after?.mode ?? '100644']))
  const requests = [...live, ...renamedContents(live, changed)]
  const oids = await contentsAt(place, commits, { requests, head: headAfter, committed: context.committed })
  const whole = new Set<PathBytes>()
  const typed = new Map<PathBytes, ReadonlySet<number>[]>()
  for (const commit of commits) {
    for (const some of splitIntoRounds(requests)) {
      const pairs = some.flatMap(({ path, before, after, name = path }) => {
        const oid = oids.get(`${commit}:${path}\0${name}`)
        if (oid === undefined || oid === before) return []
        if (oid === after) {
          whole.add(path)
          return []
        }
        const mode = modes.get(path) ?? '100644'
        return [{ path, before: { mode, oid }, after: { mode, oid: after } }]
      })
      if (pairs.length === 0) continue
      const diff = await diffContents(place, pairs, [...patchForm, '-U0'], textOnly)
      const lengths = new Map(
        some.flatMap(({ path, name, length }) => (name === undefined ? [] : [[path, length]])),
      )
      for (const { path, places } of diff === null ? [] : parsePatch(diff.output)) {
        const added = new Set(places.flatMap(typedLineNumbers))
        const length = lengths.get(path)
        if (length !== undefined && !isOtherName(places, { length, kept: length - added.size })) continue
        typed.set(path, [...(typed.get(path) ?? []), added])
      }
    }
  }
  return {
    origin: (path) => (!isGap && whole.has(path) ? 'imported' : typed.has(path) ? 'mixed' : 'task'),
    isBrought: (path, line) =>
      whole.has(path) || (typed.get(path)?.some((added) => !added.has(line)) ?? false),
  }
}

/** The new lines of a hunk, without those that only changed their white space. */
function typedLineNumbers({ removed, added, after }: ChangedHunk): readonly number[] {
  const bare = (lines: readonly string[]) => lines.map((line) => line.replace(/\s+/g, ''))
  const kept = new Set(align(bare(removed), bare(added)))
  return added.flatMap((_, index) => (kept.has(index) ? [] : [after + index]))
}

const leastKept = 3
const maxNames = 3

/** Whether a deleted file was renamed to this one: three lines, or half of either, must be the same. */
function isOtherName(
  places: readonly ChangedHunk[],
  { length, kept }: { readonly length: number; readonly kept: number },
): boolean {
  const grown = places.reduce((sum, { added, removed }) => sum + added.length - removed.length, 0)
  return kept > 0 && (kept >= leastKept || kept * 2 >= Math.min(length, length - grown))
}

interface ContentRequest extends ChangedContent {
  /** Its possible path in a commit, if different from its own. */
  readonly name?: PathBytes
  readonly length?: number
}

/** An added file may be a deleted one under its name on another branch. */
function renamedContents(
  live: readonly ChangedContent[],
  changed: readonly ChangedContent[],
): readonly ContentRequest[] {
  const left = changed.filter(({ after }) => after === null).slice(0, maxNames)
  return live
    .filter(({ before, from }) => before === null && from === undefined)
    .slice(0, maxFiles / 10)
    .flatMap((one) => {
      const length = one.places.reduce((sum, { added }) => sum + added.length, 0)
      return left.map(({ path }) => ({ ...one, name: path, length }))
    })
}

/** Splits requests so that each round compares a path once. */
function splitIntoRounds(requests: readonly ContentRequest[]): readonly (readonly ContentRequest[])[] {
  const rounds: ContentRequest[][] = []
  const counts = new Map<PathBytes, number>()
  for (const one of requests) {
    const round = counts.get(one.path) ?? 0
    counts.set(one.path, round + 1)
    rounds[round] = [...(rounds[round] ?? []), one]
  }
  return rounds
}

/** The ids of some paths in some commits, by the commit, the path and the name used there. */
async function contentsAt(
  place: PrivateDirectory,
  commits: readonly string[],
  {
    requests: paths,
    head,
    committed,
  }: Pick<LineStepContext, 'committed'> & {
    readonly requests: readonly ContentRequest[]
    readonly head: string | null
  },
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  const lookups = commits.flatMap((commit) =>
    paths.flatMap(({ path, from, name = path }) => {
      const key = `${commit}:${path}\0${name}`
      const committedOid = commit === head ? committed.get(name) : undefined
      if (typeof committedOid === 'string') ids.set(key, committedOid)
      const own = committedOid === undefined ? [{ key, name: `${commit}:${name}` }] : []
      const earlier = from === undefined || ids.has(key) ? [] : [{ key, name: `${commit}:${from}` }]
      return [...own, ...earlier]
    }),
  )
  const names = lookups.map(({ name }) => name)
  const oids = await objectIds(place, names)
  for (const [at, { key }] of lookups.entries()) {
    const id = oids[at]
    if (id !== undefined && id !== null && !ids.has(key)) ids.set(key, id)
  }
  return ids
}
