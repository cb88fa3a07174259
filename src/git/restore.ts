import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../kernel/failure.ts'
import { problemWith } from '../kernel/files/contained-file.ts'
import type { ContainedEntry, PresentEntry } from '../kernel/files/replaced-file.ts'
import { pathBelow } from '../kernel/path-below.ts'
import { isSecretFile } from '../kernel/secret-files.ts'
import type { RestoreGap } from '../track/domain/restore.ts'
import { readBlobs } from './blobs.ts'
import { filtersOf } from './conversion.ts'
import { copyPlace, headsOf, repositoryAt } from './copies.ts'
import { displayPath, pathBytes } from './paths.ts'
import type {
  FileState,
  LostCommit,
  PlannedRestore,
  RestoreRequest,
  SnapshotRef,
  WorkRestore,
  WorkTreeWitness,
} from './ports/work-tree.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { type GitEnvironment, git, gitEnvironment, withGitFaults } from './process.ts'
import { loadState, maxKeptFileBytes, type OverlayEntry, type WorkTreeState } from './recorded-state.ts'
import { uncommittedFiles } from './snapshot.ts'
import { type FileWrite, readPresent, writeFiles } from './write-tree.ts'

export interface RestoreOptions {
  readonly environment?: NodeJS.ProcessEnv
  readonly witness: Pick<WorkTreeWitness, 'snapshot' | 'contents' | 'touchedPaths' | 'unifiedDiff'>
}

/** More files than this are not restored at once. */
const maxFiles = 20_000
/** In bytes. */
const maxTotal = 512 * 1024 * 1024

/** Restores kept contents in a work tree. Nothing that its repository configures is run, and nothing of git's is written. */
export function workRestore(options: RestoreOptions): WorkRestore {
  const environment = gitEnvironment(options.environment ?? process.env)
  const planSafely = (request: RestoreRequest) =>
    withGitFaults(topOf(request), () => planRestore(request, { environment, witness: options.witness }))
  return {
    plan: async (request) => (await planSafely(request)).plan,
    apply: async (request, shown) => {
      const { plan, targets } = await planSafely(request)
      if (shown !== null && plan.hash !== shown) return null
      const isBlocked = request.named === null && plan.newer.length + plan.refused.length > 0
      if (isBlocked || plan.files.length === 0) return { ...plan, written: [], after: null }
      const { writes, gaps } = await fileWrites(targets, environment)
      const { written, refused } = await writeFiles(topOf(request), writes)
      return {
        ...plan,
        written,
        after: written.length === 0 ? null : await snapshotOf(request, options.witness),
        leftOut: [...plan.leftOut, ...gaps],
        refused: [
          ...plan.refused,
          ...refused.map(({ path, refusal }) => ({ path, problem: problemWith(refusal) })),
        ],
      }
    },
  }
}

function topOf({ states: [first] }: RestoreRequest): string {
  return first?.top ?? ''
}

interface RestoreParts {
  readonly environment: GitEnvironment
  readonly witness: RestoreOptions['witness']
}

/** A path with the kept state that it gets back. */
interface FileToRestore {
  readonly path: string
  readonly state: WorkTreeState
  readonly place: SnapshotRef
  /** Null removes the file. */
  readonly target: TargetState | null
  /** The hash of what is there now; null for nothing. */
  readonly present: string | null
}

interface TargetState {
  readonly id: string
  readonly mode: ContainedEntry['mode']
  /** It is what HEAD had, not what was kept of the disk. */
  readonly isCommitted: boolean
}

async function planRestore(
  request: RestoreRequest,
  { environment, witness }: RestoreParts,
): Promise<{ readonly plan: PlannedRestore; readonly targets: readonly FileToRestore[] }> {
  const top = topOf(request)
  const states = await loadStates(request)
  if (!existsSync(top)) throw treeGone(top)
  const paths = await candidatePaths(request, states, witness)
  // Read before the snapshot: what is replaced is then in it, or the file is refused as changed.
  const present = new Map(paths.map((path) => [path, readPresent(top, path, 0)]))
  const before = await snapshotOf(request, witness)
  const now = (await witness.contents.states(before, paths)) ?? new Map<string, FileState | null>()
  const base = request.base && (await witness.contents.states(request.base, paths))
  const known = await knownIds([...request.known, ...(request.base ? [request.base] : [])], paths, witness)
  const kept = await Promise.all(
    states.map(async ({ state, place }) => ({
      state,
      place,
      targets: await targetsOf(state, paths, environment),
    })),
  )
  const plan = { newer: [] as string[], refused: [] as Problem[], leftOut: [] as Gap[], same: 0 }
  const targets: FileToRestore[] = []
  for (const path of paths) {
    const chosen = kept.find(({ targets: all }) =>
      differsFromBase(all.get(path), base?.get(path), base !== null),
    )
    const found = chosen?.targets.get(path)
    if (chosen === undefined || found === undefined) continue
    const is = now.get(path) ?? null
    const seen = present.get(path) ?? null
    if (isThere(found, is, seen)) {
      plan.same += 1
      continue
    }
    if (found.gap !== undefined) {
      plan.leftOut.push({ path, why: found.gap })
      continue
    }
    if (seen !== null && 'reason' in seen) {
      plan.refused.push({ path, problem: problemWith(seen) })
      continue
    }
    const ids = [found.head, ...kept.map(({ targets: all }) => all.get(path)?.id), ...(known.get(path) ?? [])]
    const isNewer = seen !== null && (is === null || !ids.includes(idOf(is)) || idOf(is) === undefined)
    if (isNewer && !request.force) {
      plan.newer.push(path)
      continue
    }
    const { state, place } = chosen
    const target =
      found.id === null ? null : { id: found.id, mode: found.mode, isCommitted: found.isCommitted }
    targets.push({ path, state, place, target, present: seen?.hash ?? null })
  }
  const { lost, available } = await withoutLost(targets, witness)
  plan.leftOut.push(...lost)
  const files = available.map(({ path, target, present: hash }) => {
    const action =
      target === null ? ('removed' as const) : hash === null ? ('created' as const) : ('changed' as const)
    return { path, action }
  })
  const hashed = available.map(({ path, target, present: hash }) => [path, target?.id, target?.mode, hash])
  return {
    targets: available,
    plan: {
      ...plan,
      top,
      before,
      files,
      diff: await diffOf(before, available, witness),
      commits: request.withCommits ? await lostCommits(states[0]?.state, before, environment) : [],
      // Only what is written: naming these files, where others are in the way, is the same difference.
      hash: createHash('sha256').update(JSON.stringify(hashed)).digest('hex'),
    },
  }
}

async function snapshotOf(
  { states: [first] }: RestoreRequest,
  { snapshot }: Pick<WorkTreeWitness, 'snapshot'>,
): Promise<SnapshotRef> {
  const { top = '', engine = 'git', prefix = '' } = first ?? {}
  const folder = existsSync(join(top, prefix)) ? join(top, prefix) : top
  return (await snapshot({ folder, name: `restore-${randomUUID()}`, engine, top })).ref
}

interface Problem {
  readonly path: string
  readonly problem: string
}

interface Gap {
  readonly path: string
  readonly why: RestoreGap
}

interface LoadedState {
  readonly state: WorkTreeState
  readonly place: SnapshotRef
}

async function loadStates({ states }: RestoreRequest): Promise<readonly LoadedState[]> {
  const loaded = await Promise.all(
    states.map(async (place) => ({ place, state: await loadState(place.directory) })),
  )
  const found = loaded.flatMap(({ place, state }) => (state === null ? [] : [{ place, state }]))
  if (found.length > 0) return found
  throw new Failure('UNAVAILABLE', 'Its contents are no longer kept.', {
    reason: 'contents_not_kept',
    hint: 'Contents are kept for 30 days after the work ended. waymark restore --list shows what is left.',
  })
}

function treeGone(top: string): Failure {
  return new Failure('UNAVAILABLE', `The work tree ${top} does not exist any more.`, {
    reason: 'work_tree_not_found',
    hint: `Create it again, for example with git worktree add, and call again.`,
  })
}

/** The paths to look at, those that a person named if any. */
async function candidatePaths(
  { files, base, without, named }: RestoreRequest,
  states: readonly LoadedState[],
  witness: RestoreParts['witness'],
): Promise<readonly string[]> {
  const all = new Set(files)
  if (files === null) {
    for (const { state, place } of states) {
      const changed =
        base === null
          ? uncommittedFiles(state).map(({ path }) => path)
          : await witness.touchedPaths(base, place)
      for (const path of changed ?? []) all.add(path)
    }
  }
  for (const path of without) all.delete(path)
  const paths = [...all].filter((path) => named === null || named.some((one) => isNamed(path, one))).sort()
  const unknown = named?.filter((one) => !paths.some((path) => isNamed(path, one))) ?? []
  if (unknown.length > 0) {
    throw new Failure('NOT_FOUND', `Nothing was kept of ${unknown.slice(0, 10).join(', ')} there.`, {
      reason: 'file_not_kept',
      hint: 'Name files or folders from the folder you are in. Without paths, all kept files are shown.',
      details: { paths: unknown.slice(0, 100) },
    })
  }
  if (paths.length <= maxFiles) return paths
  throw new Failure('INVALID_INPUT', `${paths.length} files are kept there: at most ${maxFiles} at once.`, {
    reason: 'too_many_files',
    hint: 'Name some of its folders.',
  })
}

/** Whether a path is a named one, or below it. */
function isNamed(path: string, named: string): boolean {
  return named === '' || pathBelow(named, path) !== null
}

/** A state to bring back, or why that is not possible. */
interface FoundState {
  readonly id: string | null
  readonly mode: ContainedEntry['mode']
  readonly isCommitted: boolean
  /** Of the commit at that time. */
  readonly head: string | undefined
  readonly gap?: RestoreGap
}

async function targetsOf(
  state: WorkTreeState,
  paths: readonly string[],
  environment: GitEnvironment,
): Promise<ReadonlyMap<string, FoundState>> {
  const found = new Map<string, FoundState>()
  const committed: string[] = []
  for (const path of paths) {
    const bytes = pathBytes(path)
    const repository = repositoryAt(state, bytes)
    if (repository === undefined) continue
    const inside = bytes.slice(repository.prefix.length)
    const entry = repository.overlay.get(inside)
    if (repository.prefix !== '') found.set(path, gapOf('repository', entry))
    else if (displayPath(bytes) !== path) found.set(path, gapOf('not_kept', entry))
    else if (entry !== undefined) found.set(path, stateOf(path, entry))
    else if (repository.ignoredFiles.has(inside)) found.set(path, gapOf('ignored', undefined))
    else committed.push(path)
  }
  const [own] = state.repositories
  const place = copyPlace(state, environment)
  const heads = own === undefined ? new Map() : await headsOf(place, own, committed)
  const unkept = [...found].flatMap(([path, { gap }]) => (gap === 'not_kept' ? [path] : []))
  const filters = await filtersOf(place, [...heads.keys(), ...unkept].map(pathBytes))
  for (const path of unkept) {
    const state = found.get(path)
    if (state !== undefined && filters.get(pathBytes(path)) === 'lfs')
      found.set(path, { ...state, gap: 'lfs' })
  }
  for (const path of committed) {
    const head = heads.get(path)
    const filter = filters.get(pathBytes(path))
    if (head === undefined) found.set(path, { id: null, mode: '100644', isCommitted: true, head: undefined })
    else if (head.mode === '160000') found.set(path, gapOf('repository', undefined))
    else if (isSecretFile(path)) found.set(path, gapOf('secret', undefined))
    else if (filter !== undefined) found.set(path, gapOf(filter === 'lfs' ? 'lfs' : 'filter', undefined))
    else found.set(path, { id: head.oid, mode: modeOf(head.mode), isCommitted: true, head: head.oid })
  }
  return found
}

function stateOf(path: string, entry: OverlayEntry): FoundState {
  const { disk } = entry
  const head = entry.head?.oid
  if (disk === null) return { id: null, mode: '100644', isCommitted: false, head }
  if (disk.mode === '160000') return gapOf('repository', entry)
  if (isSecretFile(path)) return gapOf('secret', entry)
  if (disk.oid === null || disk.unkept) {
    const isLarge = (disk.stat?.size ?? 0) > maxKeptFileBytes
    return gapOf(isLarge ? 'too_large' : 'not_kept', entry)
  }
  return { id: disk.oid, mode: modeOf(disk.mode), isCommitted: false, head }
}

function gapOf(gap: RestoreGap, entry: OverlayEntry | undefined): FoundState {
  const { disk = null, head = null } = entry ?? {}
  return { id: disk?.oid ?? null, mode: modeOf(disk?.mode ?? ''), isCommitted: false, head: head?.oid, gap }
}

function modeOf(mode: string): ContainedEntry['mode'] {
  return mode === '100755' || mode === '120000' ? mode : '100644'
}

function idOf(state: FileState | null | undefined): string | undefined {
  return state?.id ?? state?.hash
}

function differsFromBase(
  found: FoundState | undefined,
  base: FileState | null | undefined,
  hasBase: boolean,
): boolean {
  if (found === undefined) return false
  if (!hasBase) return true
  if (found.gap !== undefined && found.id === null) return true
  return (found.id ?? undefined) !== idOf(base) || (found.id !== null && found.mode !== base?.mode)
}

/** Whether a file is as it was kept. */
function isThere(
  found: FoundState,
  now: FileState | null,
  seen: PresentEntry | null | { reason: string },
): boolean {
  const isAbsent = seen === null || ('reason' in seen && seen.reason === 'folder')
  if (found.id === null) return found.gap === undefined && isAbsent
  return now !== null && idOf(now) === found.id && now.mode === found.mode && seen !== null
}

/** The contents that the record knows of each path. */
async function knownIds(
  places: readonly SnapshotRef[],
  paths: readonly string[],
  { contents }: RestoreParts['witness'],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = new Map<string, string[]>()
  for (const place of places) {
    const states = await contents.states(place, paths)
    for (const [path, state] of states ?? []) {
      const id = idOf(state)
      if (id !== undefined) known.set(path, [...(known.get(path) ?? []), id])
    }
  }
  return known
}

/** The targets whose contents still exist, and those whose do not. */
async function withoutLost(
  targets: readonly FileToRestore[],
  { contents }: RestoreParts['witness'],
): Promise<{ readonly lost: readonly Gap[]; readonly available: readonly FileToRestore[] }> {
  const places = [...new Set(targets.map(({ place }) => place))]
  const ids = targets.flatMap(({ target }) => target?.id ?? [])
  const sizes = await contents.read(places, ids, -1)
  const total = ids.reduce((sum, id) => sum + (sizes.get(id)?.size ?? 0), 0)
  if (total > maxTotal) {
    throw new Failure(
      'INVALID_INPUT',
      `The files take ${Math.round(total / 1024 / 1024)} MB: at most 512 MB at once.`,
      {
        reason: 'files_too_large',
        hint: 'Name some of its folders.',
      },
    )
  }
  const isKept = ({ target }: FileToRestore) => target === null || sizes.has(target.id)
  return {
    available: targets.filter(isKept),
    lost: targets.filter((one) => !isKept(one)).map(({ path }) => ({ path, why: 'no_longer_kept' })),
  }
}

async function diffOf(
  before: SnapshotRef,
  targets: readonly FileToRestore[],
  { unifiedDiff }: RestoreParts['witness'],
): Promise<string> {
  const texts: string[] = []
  for (const [place, some] of Map.groupBy(targets, (target) => target.place)) {
    const paths = some.map(({ path }) => path)
    texts.push((await unifiedDiff(before, place, paths))?.text ?? '')
  }
  return texts.join('')
}

/** The writes, with each content as git would check it out. */
async function fileWrites(
  targets: readonly FileToRestore[],
  environment: GitEnvironment,
): Promise<{ readonly writes: readonly FileWrite[]; readonly gaps: readonly Gap[] }> {
  const writes: FileWrite[] = []
  const gaps: Gap[] = []
  for (const [state, some] of Map.groupBy(targets, (target) => target.state)) {
    const contents = await checkedOut(copyPlace(state, environment), some)
    for (const { path, target, present } of some) {
      const content = contents.get(path)
      if (target === null) writes.push({ path, entry: null, expected: present })
      else if (content === undefined) gaps.push({ path, why: 'no_longer_kept' })
      else writes.push({ path, entry: { mode: target.mode, content }, expected: present })
    }
  }
  return { writes, gaps }
}

/** The contents of files on disk: line endings and encodings as git converts them, and no filter. */
async function checkedOut(
  place: PrivateDirectory,
  targets: readonly FileToRestore[],
): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>()
  const all = targets.flatMap(({ path, target }) => (target === null ? [] : [{ path, ...target }]))
  const links = all.filter(({ mode }) => mode === '120000')
  const raw = await readBlobs(
    place,
    links.map(({ id }) => id),
  )
  for (const { path, id } of links) {
    const content = raw.get(id)
    if (content !== undefined) contents.set(path, content)
  }
  const files = all.filter(({ mode }) => mode !== '120000')
  if (files.length === 0) return contents
  // The size before the content is that before the conversion: a word that no content can hold separates them.
  const mark = `${randomUUID()} `
  const ending = files.some(({ path }) => path.includes('\n')) ? '\0' : '\n'
  const input = files.map(({ id, path }) => `${id} ${pathBytes(path)}${ending}`).join('')
  const question = ['cat-file', `--batch=${mark}`, '--filters', ...(ending === '\0' ? ['-z'] : [])]
  const output = await git(question, privateCall(place, Buffer.from(input, 'latin1')))
  let at = output.indexOf(mark)
  for (const { path } of files) {
    const start = at + mark.length + 1
    const next = output.indexOf(mark, start)
    // A line feed follows each content.
    contents.set(path, output.subarray(start, (next < 0 ? output.length : next) - 1))
    at = next
  }
  return contents
}

const maxCommits = 20

/** Commits and stashes of a state that nothing leads to any more. */
async function lostCommits(
  state: WorkTreeState | undefined,
  before: SnapshotRef,
  environment: GitEnvironment,
): Promise<readonly LostCommit[]> {
  const own = state?.repositories[0]
  const now = await loadState(before.directory)
  const current = now?.repositories[0]
  if (own === undefined || now === null || current?.refs == null) return []
  const stashes = new Set(own.refs?.stashes ?? [])
  const lost: LostCommit[] = [...stashes]
    .filter((commit) => !current.refs?.stashes?.includes(commit))
    .map((commit) => ({ commit, command: `git stash store -m restored ${commit}` }))
  const tips = [...current.refs.all, ...(current.head === null ? [] : [current.head])]
  const gone = [...new Set([...(own.head === null ? [] : [own.head]), ...(own.refs?.all ?? [])])].filter(
    (tip) => !tips.includes(tip) && !stashes.has(tip),
  )
  const place = copyPlace(now, environment)
  for (const commit of gone.slice(0, maxCommits)) {
    const input = Buffer.from([commit, ...tips.map((tip) => `^${tip}`), ''].join('\n'))
    const question = ['rev-list', '--max-count=1', '--ignore-missing', '--stdin']
    const found = await git(question, privateCall(place, input)).catch(() => Buffer.alloc(0))
    if (found.length > 0)
      lost.push({ commit, command: `git branch restored-${commit.slice(0, 10)} ${commit}` })
  }
  return lost
}
