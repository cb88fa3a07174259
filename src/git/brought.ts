import { hash } from 'node:crypto'
import { setNewest } from '../kernel/limited-map.ts'
import { align } from '../lines/domain/alignment.ts'
import { minSolidCharacters, shortLinePrefix } from '../lines/domain/line-hashes.ts'
import { type GitTrace, type KnownLines, type KnownVersion, knownLines } from '../lines/domain/versions.ts'
import { type BroughtBy, bringingCommands } from '../track/domain/changes.ts'
import { objectIds, readBlobs } from './blobs.ts'
import { type Difference, isSameState, type RepositoryPair } from './comparison.ts'
import { entriesOfOtherTrees, headEntries } from './copied-commits.ts'
import { diskFile } from './disk.ts'
import type { ReflogEntry } from './git-folder.ts'
import { isBinary, splitBufferLines } from './line-hash.ts'
import { arrivedCommits, commitsMade, commitsWithOwn, type HeldOwnCommits } from './origin.ts'
import { type ChangedContent, oidOf } from './patch.ts'
import { displayPath, nulRecords, type PathBytes, pathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { runGit } from './process.ts'
import { leavingNothingOut } from './trees.ts'

/** What git did in the interval between two snapshots of a repository. */
export interface GitMovement {
  readonly headBefore: string | null
  readonly headAfter: string | null
  readonly stashMoved: boolean
  /** A merge or the like began, ended or goes on. */
  readonly isUnderway: boolean
  /** Whether a git command ran. */
  readonly ran: boolean
  /** Whether a command ran that brings lines, and not only a commit. */
  readonly hasBrought: boolean
  /** Commits that git certainly wrote into the work tree. */
  readonly arrived: readonly string[]
  /** Commits of others that may hold what was committed in the interval. */
  readonly withOwn: ReadonlyMap<string, HeldOwnCommits>
  /** How HEAD moved. */
  readonly entries: readonly ReflogEntry[]
}

export const noMovement: GitMovement = {
  headBefore: null,
  headAfter: null,
  stashMoved: false,
  isUnderway: false,
  ran: false,
  hasBrought: false,
  arrived: [],
  withOwn: new Map(),
  entries: [],
}

export async function movementOf(
  place: PrivateDirectory,
  pair: RepositoryPair,
  during: 'attempt' | 'gap',
): Promise<GitMovement> {
  const { from, to } = pair
  const entries = (await headEntries(place, pair)) ?? []
  const stashMoved = from.refs !== null && to.refs !== null && from.refs.stash !== to.refs.stash
  const isUnderway = JSON.stringify(from.operation) !== JSON.stringify(to.operation)
  const underway = [...(to.operation?.commits ?? []), ...(to.operation?.picked ?? [])]
  const arrived = during === 'gap' ? [] : await arrivedCommits(place, entries)
  const withOwn = during === 'gap' ? new Map() : await commitsWithOwn(place, pair, { entries, arrived })
  return {
    headBefore: from.head,
    headAfter: to.head,
    stashMoved,
    isUnderway: isUnderway || underway.length > 0,
    ran: stashMoved || isUnderway || from.head !== to.head || entries.length > 0,
    hasBrought: stashMoved || isUnderway || entries.some(isBringing),
    arrived: [...new Set([...arrived, ...underway])].slice(-maxArrived),
    withOwn,
    entries,
  }
}

// A reset to the present commit and a plain commit bring nothing.
function isBringing({ verb, detail, from, to }: ReflogEntry): boolean {
  return (verb !== 'commit' || !['', 'amend', 'initial'].includes(detail)) && from !== to
}

const maxMoves = 24

/** The files that HEAD's moves changed, plain commits aside; null if something else may have brought lines as well. */
async function filesOfMoves(
  place: PrivateDirectory,
  { movement: { entries, stashMoved, isUnderway }, during }: BroughtRequest,
): Promise<ReadonlySet<PathBytes> | null> {
  const moves = entries.filter(isBringing)
  if (during === 'gap' || stashMoved || isUnderway || moves.length === 0 || moves.length > maxMoves)
    return null
  const pairs = moves.map(({ from, to }) => `${to} ${from}`)
  const changed = await diffTree(place, pairs, { maxOutput: maxKeptOutput })
  return changed && new Set(changed.map(({ path }) => path))
}

/** The command that brought lines, if it was one. */
function commandOf({ entries, stashMoved }: GitMovement): BroughtBy['command'] {
  const verbs = new Set(
    entries.filter(isBringing).map(({ verb, detail }) => (verb === 'commit' ? detail : verb)),
  )
  if (stashMoved) verbs.add('stash')
  return verbs.size === 1 ? bringingCommands.find((command) => verbs.has(command)) : undefined
}

// For an attempt that switched branches often, the last commits are enough.
const maxArrived = 12
const maxOwn = 24
const maxTips = 12
const maxOlder = 8
const maxHistory = 300
const maxVersions = 40
/** Versions of files that git did not touch, in all. */
const maxUntouched = 40
const maxFiles = 1_000

/** The lines of changed files that git brought. */
export interface BroughtLines {
  /** The whole content existed before, or elsewhere. */
  readonly isWhole: (path: PathBytes) => boolean
  /** Null if no line of the file is known from elsewhere. */
  readonly lines: (path: PathBytes) => KnownLines | null
  readonly by: (path: PathBytes) => BroughtBy
}

export const nothingBrought: BroughtLines = { isWhole: () => false, lines: () => null, by: () => ({}) }

export interface BroughtRequest {
  /** Changed files that no hook explains. */
  readonly changed: readonly ChangedContent[]
  readonly differences: ReadonlyMap<PathBytes, Difference>
  readonly movement: GitMovement
  readonly pair: RepositoryPair
  readonly during: 'attempt' | 'gap'
}

// The report of an attempt and the record of its lines mostly ask about the same changes.
const answers = new Map<string, Promise<BroughtLines>>()
const maxAnswers = 4

/** Compares the changed files with their versions in commits, stashes and other work trees. */
export function findBrought(place: PrivateDirectory, request: BroughtRequest): Promise<BroughtLines> {
  const { changed, differences, during, pair, movement } = request
  const files = changed.map(({ path, from, before, after }) => {
    const staged = differences.get(path)?.entryBefore?.index
    return `${before} ${after} ${staged} ${from}\0${path}\0`
  })
  // Not the first snapshot itself: what the two ask about may begin at different snapshots of the same content.
  const { withOwn, ran: _, headBefore: __, ...moved } = movement
  const between = JSON.stringify([pair.from.head, pair.from.refs, moved, [...withOwn]])
  const key = `${place.directory} ${during} ${hash('sha256', [between, ...files].join(''))}`
  const earlier = answers.get(key)
  if (earlier !== undefined) return earlier
  const answer = compareWithVersions(place, request)
  answer.catch(() => answers.delete(key))
  setNewest(answers, maxAnswers, key, answer)
  return answer
}

async function compareWithVersions(place: PrivateDirectory, request: BroughtRequest): Promise<BroughtLines> {
  const { movement, pair, differences } = request
  const live = request.changed.filter(
    ({ after, places }) => after !== null && places.some(({ added }) => added.length > 0),
  )
  if (live.length === 0) return nothingBrought
  const { headAfter } = movement
  // In a gap no attempt made a commit: all that HEAD has is its author's.
  const arrived = [
    ...(request.during === 'gap' && headAfter !== null ? [headAfter] : []),
    ...movement.arrived,
  ]
  const known = await knownCommits(place.top, pair, movement)
  const unsure = movement.entries.flatMap(({ to, existed }) => (existed === 'perhaps' ? [to] : []))
  const removed = request.changed.filter(({ after }) => after === null).slice(0, maxNames)
  const names = new Map(live.map((file) => [file.path, namesOf(file, removed)]))
  const held = [...arrived, ...known, ...movement.withOwn.keys()].flatMap(
    (commit) => movement.withOwn.get(commit) ?? [],
  )
  const own = [...new Set(held.flatMap(({ bases, copied }) => [...bases, ...copied]))]
  const others = [...arrived, ...unsure, ...own.slice(0, maxOwn)]
  const [commits, ofMoves] = await Promise.all([
    readCommits(place, { arrived: others, known, names, ...request }),
    filesOfMoves(place, request),
  ])
  const isMoved = (path: PathBytes) =>
    ofMoves === null || names.get(path)?.some(({ name }) => ofMoves.has(name)) === true
  const moved = new Map([...names].filter(([path]) => isMoved(path)))
  const versions = new VersionList(live, movement)
  for (const commit of arrived) versions.addCommit(commits, commit, moved, true)
  for (const commit of known) versions.addCommit(commits, commit, names, false)
  for (const commit of unsure) versions.addCommit(commits, commit, names, false, true)
  versions.addStaged(differences, names)
  versions.addHistory(commits, names)
  const traces = new Map(
    live.map(({ path }) => {
      const hasBrought = movement.hasBrought && isMoved(path)
      return [path, traceOf(differences.get(path), { ...movement, hasBrought })] as const
    }),
  )
  const isTraced = [...traces.values()].some((trace) => trace !== 'none')
  // A stash that is applied with a conflict stays, and leaves no trace but the index.
  const stashes = isTraced ? (pair.from.refs?.stashes ?? []).slice(0, maxTips) : []
  const stashed = (await keptDifferences(place, stashes)).flatMap((own) => own ?? [])
  const gone = stashed.filter(({ path }) => diskFile(place.top, path) === null)
  versions.addStashed(gone.slice(0, maxVersions), traces)
  const found = await versions.compare(place, live, traces)
  const command = commandOf(movement)
  const by = (path: PathBytes): BroughtBy => {
    const commit = versions.commitOfWhole(path) ?? found.lines(path)?.commit
    const isCommands = traces.get(path) === 'command' && command !== undefined
    return { ...(isCommands && { command }), ...(commit !== undefined && { commit }) }
  }
  return { ...found, by }
}

interface KnownCommits {
  /** The commit that the others are compared with. */
  readonly base: string | null
  readonly baseContents: ReadonlyMap<PathBytes, string | null>
  /** The contents that each commit has instead. */
  readonly contents: ReadonlyMap<string, ReadonlyMap<PathBytes, string | null>>
  /** The contents that the newest commits replaced and wrote, the newest first. */
  readonly history: readonly {
    readonly path: PathBytes
    readonly oid: string
    readonly commit?: string
    /** The commit that replaced or wrote it. */
    readonly changedIn: string
  }[]
}

/** Reads the contents of some paths in commits. Two git processes serve all of them. */
async function readCommits(
  place: PrivateDirectory,
  {
    arrived,
    known,
    names,
    differences,
    movement: { headBefore, headAfter, hasBrought, withOwn },
  }: Pick<BroughtRequest, 'differences' | 'movement'> & {
    readonly arrived: readonly string[]
    readonly known: readonly string[]
    readonly names: ReadonlyMap<PathBytes, readonly FileName[]>
  },
): Promise<KnownCommits> {
  const all = [...new Set([...arrived, ...known])]
  const base = headBefore ?? all[0] ?? null
  if (base === null) return { base, baseContents: new Map(), contents: new Map(), history: [] }
  const paths = [...new Set([...names.values()].flatMap((some) => some.map(({ name }) => name)))]
  const asked = headBefore === null ? paths : paths.filter((path) => !differences.has(path))
  const isMany = paths.length > maxPaths
  const others = (isMany ? arrived : all).filter((commit) => commit !== base && commit !== headAfter)
  const [oids, compared, recent] = await Promise.all([
    contentsIn(place, [base], asked),
    isMany
      ? contentsIn(place, others, paths)
      : differencesOf(
          place,
          others.map((commit) => `${commit} ${base}`),
          paths,
        ),
    isMany ? [] : recentDifferences(place, known, { hasBrought, withOwn }, paths),
  ])
  const baseContents = new Map(paths.map((path) => [path, differences.get(path)?.headBefore?.oid ?? null]))
  for (const { path, after } of oids) baseContents.set(path, after)
  const contents = new Map(others.map((commit) => [commit, new Map<PathBytes, string | null>()]))
  for (const { commit, path, after } of compared) contents.get(commit)?.set(path, after)
  if (headAfter !== null) {
    const now = [...differences.values()].map((one) => [one.path, one.headAfter?.oid ?? null] as const)
    contents.set(headAfter, new Map(now))
  }
  const history = recent.flatMap(({ path, before, after, commit }) => [
    ...(after === null ? [] : [{ path, oid: after, commit, changedIn: commit }]),
    ...(before === null ? [] : [{ path, oid: before, changedIn: commit }]),
  ])
  return { base, baseContents, contents, history }
}

async function contentsIn(
  place: PrivateDirectory,
  commits: readonly string[],
  paths: readonly PathBytes[],
): Promise<readonly CommitDifference[]> {
  const lookups = commits.flatMap((commit) => paths.map((path) => ({ commit, path })))
  const oids = await objectIds(
    place,
    lookups.map(({ commit, path }) => `${commit}:${path}`),
  )
  return lookups.map((lookup, at) => ({ ...lookup, before: null, after: oids[at] ?? null }))
}

interface CommitDifference {
  readonly commit: string
  readonly path: PathBytes
  readonly before: string | null
  readonly after: string | null
}

/** The differences of some paths between commits and their parents, or the commits named after them. */
async function differencesOf(
  place: PrivateDirectory,
  commits: readonly string[],
  paths: readonly PathBytes[],
): Promise<readonly CommitDifference[]> {
  // Node passes arguments as text.
  const readable = paths.filter((path) => pathBytes(displayPath(path)) === path).map(displayPath)
  const differences: CommitDifference[] = []
  for (let from = 0; from < readable.length; from += pathsPerCall) {
    const some = readable.slice(from, from + pathsPerCall)
    // Of a history that was pruned, nothing can be compared.
    for (const one of (await diffTree(place, commits, { paths: some })) ?? []) differences.push(one)
  }
  return differences
}

/** The differences of all paths, or of some. Null if git failed, or if there are too many. */
async function diffTree(
  place: PrivateDirectory,
  commits: readonly string[],
  { paths = [], maxOutput }: { readonly paths?: readonly string[]; readonly maxOutput?: number },
): Promise<readonly CommitDifference[] | null> {
  if (commits.length === 0) return []
  const form = ['-r', '-m', '--root', '--no-renames', '--raw', '--no-abbrev', '-z']
  const question = ['--literal-pathspecs', 'diff-tree', '--stdin', ...form, ...leavingNothingOut, '--']
  const call = privateCall(place, Buffer.from(`${commits.join('\n')}\n`))
  const limited = maxOutput === undefined ? call : { ...call, maxOutput }
  const { code, output } = await runGit([...question, ...paths], limited)
  if (code !== 0) return null
  const records = nulRecords(output)
  const differences: CommitDifference[] = []
  let commit = ''
  for (let at = 0; at < records.length; at += 1) {
    const [mark = '', , before = '', after = ''] = (records[at] ?? '').split(' ')
    if (mark.startsWith(':')) {
      at += 1
      differences.push({ commit, path: records[at] ?? '', before: oidOf(before), after: oidOf(after) })
    } else commit = mark
  }
  return differences
}

/** What the newest commits changed in some paths. Only a command that brings lines is likely to have used old ones. */
async function recentDifferences(
  place: PrivateDirectory,
  known: readonly string[],
  { hasBrought, withOwn }: Pick<GitMovement, 'hasBrought' | 'withOwn'>,
  paths: readonly PathBytes[],
): Promise<readonly CommitDifference[]> {
  if (known.length === 0) return []
  // What was made here, and what others based on it, is no older version.
  const made = new Set(
    [...withOwn].flatMap(([commit, { bases, copied }]) => [
      ...(bases.length > 0 ? [commit] : []),
      ...bases,
      ...copied,
    ]),
  )
  const isEarlier = (commit: string) => !made.has(commit)
  if (hasBrought) {
    const recent = await recentCommits(place, known, maxHistory)
    return differencesOf(place, recent.filter(isEarlier), paths)
  }
  const key = `${place.top} ${known.join(' ')}`
  const recent = recentLists.get(key) ?? (await recentCommits(place, known, maxOlder))
  // None at all is a failure of git, which may pass.
  if (recent.length > 0) setNewest(recentLists, maxRecentLists, key, recent)
  const commits = recent.filter(isEarlier)
  const kept = await keptDifferences(place, commits)
  const large = commits.filter((_, at) => kept[at] === null)
  const wanted = new Set(paths)
  const small = kept.flatMap((own) => (own ?? []).filter(({ path }) => wanted.has(path)))
  return [...small, ...(await differencesOf(place, large, paths))]
}

// Commits never change, so neither does what comes before them. By work tree: a shallow clone ends elsewhere.
const recentLists = new Map<string, readonly string[]>()
const maxRecentLists = 8
const keptCommits = new Map<string, Promise<readonly CommitDifference[] | null>>()
const maxKeptCommits = 24
const maxKeptDifferences = 3_000
/** In bytes: what some commits changed is read at once. */
const maxKeptOutput = 4 * 1024 * 1024

/** All that each commit changed, asked of git once; null for a commit that changed too many files. */
async function keptDifferences(
  place: PrivateDirectory,
  commits: readonly string[],
): Promise<readonly (readonly CommitDifference[] | null)[]> {
  const keyOf = (commit: string) => `${place.top} ${commit}`
  const unknown = commits.filter((commit) => !keptCommits.has(keyOf(commit)))
  const read = diffTree(place, unknown, { maxOutput: maxKeptOutput }).then(
    (all) => all && Map.groupBy(all, ({ commit }) => commit),
  )
  for (const commit of unknown) {
    const key = keyOf(commit)
    const own = read.then((all) => {
      const some = all?.get(commit) ?? []
      return all === null || some.length > maxKeptDifferences ? null : some
    })
    own.catch(() => keptCommits.delete(key))
    setNewest(keptCommits, maxKeptCommits, key, own)
  }
  return Promise.all(commits.map(async (commit) => keptCommits.get(keyOf(commit)) ?? null))
}

async function recentCommits(
  place: PrivateDirectory,
  known: readonly string[],
  count: number,
): Promise<readonly string[]> {
  const question = ['rev-list', `--max-count=${count}`, '--ignore-missing', '--stdin']
  const call = privateCall(place, Buffer.from(`${known.join('\n')}\n`))
  const { code, output } = await runGit(question, call)
  return code === 0 ? output.toString('latin1').split('\n').filter(Boolean) : []
}

/** Commits that existed before the interval or were made elsewhere, and so are not the work of who was there. */
async function knownCommits(
  top: string,
  { from, to }: RepositoryPair,
  { entries, arrived }: GitMovement,
): Promise<readonly string[]> {
  const stashes = from.refs?.stashes ?? []
  const tips = [...stashes, ...(from.refs?.all ?? [])]
  const made = new Set(entries.map((entry) => entry.to))
  const before = new Set([...tips, ...arrived, ...(from.head === null ? [] : [from.head])])
  const appeared = (to.refs?.all ?? []).filter((tip) => !before.has(tip) && !made.has(tip))
  const remote = new Set(to.refs?.remote)
  const unexplained = appeared.filter((tip) => !remote.has(tip) && tip !== to.refs?.stash)
  const elsewhere = new Set(
    unexplained.length === 0 ? [] : (await entriesOfOtherTrees(top)).map((entry) => entry.to),
  )
  const others = appeared.filter((tip) => remote.has(tip) || elsewhere.has(tip))
  const head = from.head === null ? [] : [from.head]
  return [...new Set([...head, ...others.slice(0, maxTips), ...tips.slice(0, maxTips)])]
}

function traceOf(difference: Difference | undefined, { ran, hasBrought, stashMoved }: GitMovement): GitTrace {
  if (difference === undefined) return ran ? 'commit' : 'none'
  const { headBefore, headAfter, entryAfter } = difference
  const isIndexed = entryAfter?.staged === true || entryAfter?.index !== undefined
  if (!stashMoved && !isIndexed && isSameState(headBefore, headAfter)) return 'none'
  return hasBrought ? 'command' : 'commit'
}

interface FileName {
  readonly name: PathBytes
  readonly isOther: boolean
}

const maxNames = 3

/** An added file may be a removed one, under its name on another branch. */
function namesOf(
  { path, from, before }: ChangedContent,
  removed: readonly ChangedContent[],
): readonly FileName[] {
  const own = [path, ...(from === undefined ? [] : [from])].map((name) => ({ name, isOther: false }))
  if (before !== null || from !== undefined) return own
  return [...own, ...removed.map((other) => ({ name: other.path, isOther: true }))]
}

interface KnownVersionId extends Omit<KnownVersion, 'hashes' | 'own'> {
  readonly oid: string
  /** The contents that commits of the interval gave the file before this one. */
  readonly own?: HeldOwnCommits
  /** Of the history: only a command that brings lines is likely to have used it. */
  readonly isOlder: boolean
}

const older = { isArrived: false, isBase: false, isOtherName: false, isOlder: true } as const

/** The versions of some files, and which files are one of them. */
class VersionList {
  readonly #versions = new Map<PathBytes, Map<string, KnownVersionId>>()
  readonly #wholes = new Map<PathBytes, string | undefined>()
  readonly #ends: ReadonlyMap<PathBytes, Pick<ChangedContent, 'before' | 'after'>>
  readonly #withOwn: GitMovement['withOwn']
  readonly #made: ReadonlySet<string>

  constructor(
    live: readonly ChangedContent[],
    { withOwn, entries }: Pick<GitMovement, 'withOwn' | 'entries'>,
  ) {
    this.#withOwn = withOwn
    this.#made = new Set(commitsMade(entries))
    this.#ends = new Map(live.map(({ path, before, after }) => [path, { before, after }]))
  }

  isWhole(path: PathBytes): boolean {
    return this.#wholes.has(path)
  }

  /** A commit that has the whole content of a file. */
  commitOfWhole(path: PathBytes): string | undefined {
    return this.#wholes.get(path)
  }

  #add(path: PathBytes, version: KnownVersionId): void {
    const ends = this.#ends.get(path)
    if (ends === undefined || version.oid === ends.before) return
    if (version.oid === ends.after && version.isUnsure !== true && version.own === undefined) {
      if (!this.#wholes.has(path)) this.#wholes.set(path, version.commit)
      return
    }
    const versions = this.#versions.get(path) ?? new Map<string, KnownVersionId>()
    if (!versions.has(version.oid)) versions.set(version.oid, version)
    this.#versions.set(path, versions)
  }

  /** Adds a version, but not for what commits of the interval gave the file. */
  #addWithOwn(
    contents: KnownCommits['contents'],
    {
      path,
      name,
      changedIn,
    }: { readonly path: PathBytes; readonly name: PathBytes; readonly changedIn: string },
    version: KnownVersionId,
  ): void {
    const held = this.#withOwn.get(changedIn)
    const contentsOf = (commits: readonly string[] = []) =>
      commits.flatMap((commit) => contents.get(commit)?.get(name) ?? [])
    const own = { bases: contentsOf(held?.bases), copied: contentsOf(held?.copied) }
    const all = [...own.bases, ...own.copied]
    if (!all.includes(version.oid)) this.#add(path, { ...version, ...(all.length > 0 && { own }) })
  }

  addCommit(
    { base, baseContents, contents }: KnownCommits,
    commit: string,
    names: ReadonlyMap<PathBytes, readonly FileName[]>,
    isArrived: boolean,
    isUnsure = false,
  ): void {
    const own = contents.get(commit)
    if (own === undefined && commit !== base) return
    for (const [path, all] of names) {
      let hasOwn = false
      for (const { name, isOther } of all) {
        const oid = own?.has(name) ? own.get(name) : baseContents.get(name)
        // Another name counts only where the file does not have its own.
        if (oid === null || oid === undefined || (isOther && hasOwn)) continue
        hasOwn ||= !isOther
        const kinds = { isArrived, isBase: commit === base, isOtherName: isOther, isOlder: false, isUnsure }
        this.#addWithOwn(contents, { path, name, changedIn: commit }, { oid, commit, ...kinds })
      }
    }
  }

  /** What the index held: a discard brings it back. */
  addStaged(
    differences: BroughtRequest['differences'],
    names: ReadonlyMap<PathBytes, readonly FileName[]>,
  ): void {
    for (const [path, all] of names) {
      for (const { name, isOther } of all) {
        const oid = differences.get(name)?.entryBefore?.index
        if (oid !== undefined) this.#add(path, { ...older, oid, isOtherName: isOther })
      }
    }
  }

  addHistory({ history, contents }: KnownCommits, names: ReadonlyMap<PathBytes, readonly FileName[]>): void {
    const paths = new Map<PathBytes, PathBytes>()
    for (const [path, all] of names) for (const { name, isOther } of all) if (!isOther) paths.set(name, path)
    for (const { path: name, changedIn, ...content } of history) {
      const path = paths.get(name)
      if (path !== undefined) this.#addWithOwn(contents, { path, name, changedIn }, { ...older, ...content })
    }
  }

  /** Stashed files that are gone: a stash writes into the file that has another name since. */
  addStashed(gone: readonly CommitDifference[], traces: ReadonlyMap<PathBytes, GitTrace>): void {
    const kinds = { isArrived: false, isBase: false, isOtherName: true, isOlder: false }
    for (const [path, trace] of traces) {
      if (trace === 'none') continue
      for (const { after, commit } of gone)
        if (after !== null) this.#add(path, { oid: after, commit, ...kinds })
    }
  }

  /** Compares the lines of the files with those of their versions. */
  async compare(
    place: PrivateDirectory,
    live: readonly ChangedContent[],
    traces: ReadonlyMap<PathBytes, GitTrace>,
  ): Promise<Omit<BroughtLines, 'by'>> {
    let untouched = maxUntouched
    const compared = live.slice(0, maxFiles).flatMap((file) => {
      const trace = traces.get(file.path) ?? 'none'
      // Without a command that brings lines, who was there may have restored an older version, or typed its lines.
      const all = [...(this.#versions.get(file.path)?.values() ?? [])].map((version) =>
        version.isOlder && trace !== 'command' ? { ...version, isUnsure: true } : version,
      )
      if (!file.isText || this.#wholes.has(file.path) || all.length === 0) return []
      const isTouched = trace !== 'none' || all.some(({ isArrived }) => isArrived)
      const certain = all.filter(({ isUnsure }) => isTouched && isUnsure !== true).slice(0, maxVersions)
      const others = all.filter((version) => !certain.includes(version)).slice(0, untouched)
      untouched -= others.length
      const versions = [...certain, ...others]
      return versions.length === 0 ? [] : [{ file, trace, versions }]
    })
    const wanted = compared.flatMap(({ file, versions }) => [
      file.after ?? '',
      ...versions.flatMap(({ oid, own }) => [oid, ...(own?.bases ?? []), ...(own?.copied ?? [])]),
    ])
    const contents = await readBlobs(place, wanted)
    const hashes = new Map(
      [...contents].flatMap(([oid, content]) =>
        isBinary(content) || content.length > maxBytes
          ? []
          : [[oid, splitBufferLines(content).map(comparable)] as const],
      ),
    )
    const rewritten = await this.#rewrittenLines(place, compared)
    const lines = new Map(
      compared.flatMap(({ file, trace, versions }) => {
        const own = hashes.get(file.after ?? '')
        if (own === undefined) return []
        const added = new Set(file.places.flatMap((hunk) => hunk.added.map((_, more) => hunk.after + more)))
        const all = versions.flatMap(({ oid, isOlder: _, own, ...version }): KnownVersion[] => {
          const its = hashes.get(oid)
          const others = rewritten.get(`${version.commit} ${file.path}`)
          if (its === undefined) return []
          const alsoIn = (oids: readonly string[] = []) =>
            new Set(oids.flatMap((other) => linesAlsoIn(its, hashes.get(other) ?? [])))
          const [based, copied] = [alsoIn(own?.bases), alsoIn(own?.copied)]
          const kept = [...based, ...copied].filter((line) => !based.has(line) || !others?.has(line))
          return [{ ...version, hashes: its, own: new Set(kept) }]
        })
        return [[file.path, knownLines({ hashes: own, added, trace }, all)] as const]
      }),
    )
    return { isWhole: (path) => this.isWhole(path), lines: (path) => lines.get(path) ?? null }
  }

  /** Lines that others wrote after commits of the interval, by commit and path: the same text may stand in both. */
  async #rewrittenLines(
    place: PrivateDirectory,
    compared: readonly { readonly file: ChangedContent; readonly versions: readonly KnownVersionId[] }[],
  ): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
    const based = compared.flatMap(({ file, versions }) =>
      versions.flatMap(({ commit, own }) =>
        commit === undefined || own === undefined || own.bases.length === 0
          ? []
          : [{ commit, path: file.path }],
      ),
    )
    const rewritten = new Map<string, ReadonlySet<number>>()
    for (const { commit, path } of based.slice(0, maxBlames)) {
      const blamed = await blamedCommits(place, commit, path)
      const others = [...blamed].filter(([, by]) => !this.#made.has(by))
      rewritten.set(`${commit} ${path}`, new Set(others.map(([line]) => line)))
    }
    return rewritten
  }
}

/** Each one is a process of git. */
const maxBlames = 20

/** The commit that each line of a file is from, by its number from 1; empty if git does not tell. */
async function blamedCommits(
  place: PrivateDirectory,
  commit: string,
  path: PathBytes,
): Promise<ReadonlyMap<number, string>> {
  const lines = new Map<number, string>()
  // A list of ignored commits would hand their lines to the commits before them.
  const options = ['-w', '--incremental', '--no-textconv', '--root', '--ignore-revs-file=']
  const { code, output } = await runGit(
    ['blame', ...options, commit, '--', displayPath(path)],
    privateCall(place),
  )
  for (const row of code === 0 ? output.toString('latin1').split('\n') : []) {
    const [, by = '', first, count] = /^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$/.exec(row) ?? []
    for (let more = 0; more < Number(count ?? 0); more += 1) lines.set(Number(first) + more, by)
  }
  return lines
}

function linesAlsoIn(hashes: readonly string[], base: readonly string[]): readonly number[] {
  return [...align(hashes, base)].flatMap((to, at) => (to < 0 ? [] : [at + 1]))
}

/** A line without its white space, marked as `isSolid` expects it. */
function comparable(line: string): string {
  const bare = line.replace(/\s+/g, '')
  return bare.length < minSolidCharacters ? `${shortLinePrefix}${bare}` : ` ${bare}`
}

/** For more files, only the commits that arrived are read. */
const maxPaths = 1_000
const pathsPerCall = 200
const maxBytes = 1024 * 1024
