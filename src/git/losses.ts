import { objectIds } from './blobs.ts'
import { isSameState } from './comparison.ts'
import { copyPlace, headsOf } from './copies.ts'
import { reflogBetween } from './git-folder.ts'
import { displayPath, pathBytes } from './paths.ts'
import type { LostFiles, LostFilesRequest } from './ports/work-tree.ts'
import type { GitEnvironment } from './process.ts'
import { loadState, type OverlayEntry, type RepositoryState, type WorkTreeState } from './recorded-state.ts'

/** Git looks each of them up in every commit below: more would take too long. */
const maxFiles = 500
const maxCommits = 50

/** A content of a work tree that was kept and is not there any more. */
interface MissingFile {
  readonly path: string
  readonly id: string
  /** The position of its state among those of the request. */
  readonly state: number
  readonly entry: OverlayEntry
  readonly became: 'head' | 'start' | 'gone'
  /** The positions of the starts that had it already, and of those that had nothing uncommitted there. */
  readonly startedWith: readonly number[]
  readonly startedWithout: readonly number[]
  /** The positions of the states before undos that had nothing uncommitted there. */
  readonly undoneFrom: readonly number[]
  /** What HEAD has there now. */
  readonly head: string | undefined
}

/** The uncommitted contents of earlier states that are neither on the disk nor in git now. */
export async function lostFiles(request: LostFilesRequest, environment: GitEnvironment): Promise<LostFiles> {
  const nothing = { files: [], commands: [] }
  const now = await loadState(request.now.directory)
  const current = now?.repositories[0]
  if (now === null || current === undefined || now.repositoryMissing) return nothing
  const states = await Promise.all(request.states.map(({ directory }) => loadState(directory)))
  const starts = await Promise.all(request.starts.map(({ directory }) => loadState(directory)))
  const undone = await Promise.all(request.undone.map(({ directory }) => loadState(directory)))
  const missing = await missingFiles({ ...request, now, current, states, starts, undone }, environment)
  if (missing.length === 0) return nothing
  const oldest = states.findLast((state) => state !== null)?.repositories[0]
  const moves = reflogBetween(current.reflog, oldest?.reflogPosition ?? null, current.reflogPosition) ?? []
  const stashes = (current.refs?.stashes ?? []).slice(0, maxCommits)
  const commits = [...new Set([...moves.flatMap(({ to }) => to), ...(current.refs?.all ?? [])])].slice(
    -maxCommits,
  )
  // What was stashed, its index, its untracked files, and what it was based on.
  const places = [
    ...stashes.flatMap((stash) => [stash, `${stash}^2`, `${stash}^3`, `${stash}^1`]),
    ...commits,
  ]
  const names = missing.flatMap(({ path }) => places.map((commit) => `${commit}:${pathBytes(path)}`))
  const ids = await objectIds(copyPlace(now, environment), names)
  const isStashedOn = (found: readonly (string | null)[], state: number) => {
    const earlier = new Set(states[state]?.repositories[0]?.refs?.stashes)
    return stashes.some((stash, which) => {
      const [work = null, , added = null, base = null] = found.slice(which * 4)
      return !earlier.has(stash) && ((work !== null && work !== base) || added !== null)
    })
  }
  const committed = moves.some(({ verb }) => committing.has(verb))
  const files = missing.filter((file, at) => {
    const found = ids.slice(at * places.length, (at + 1) * places.length)
    // A commit or a stash with further changes to the same file took it in.
    const isCommittedOn = committed && file.head !== file.entry.head?.oid
    return !(found.includes(file.id) || isCommittedOn || isStashedOn(found, file.state))
  })
  return {
    files: files.map(({ id: _, entry: __, head: ___, ...file }) => file),
    commands:
      files.length === 0 ? [] : [...new Set(moves.map(({ message }) => message.slice(0, 200)))].slice(-20),
  }
}

const committing = new Set(['commit', 'cherry-pick', 'revert', 'am', 'rebase'])

interface LossInput {
  readonly counted: LostFilesRequest['counted']
  readonly now: WorkTreeState
  readonly current: RepositoryState
  readonly states: readonly (WorkTreeState | null)[]
  readonly starts: readonly (WorkTreeState | null)[]
  readonly undone: readonly (WorkTreeState | null)[]
}

async function missingFiles(
  { counted, now, current, states, starts, undone }: LossInput,
  environment: GitEnvironment,
): Promise<readonly MissingFile[]> {
  const kept = new Map<string, { readonly entry: OverlayEntry; readonly state: number }>()
  for (const [state, loaded] of states.entries()) {
    const counting = counted[state] == null ? null : new Set(counted[state])
    for (const [path, entry] of loaded?.repositories[0]?.overlay ?? []) {
      const isContent =
        entry.disk?.oid != null && entry.disk.mode !== '160000' && entry.uncertain === undefined
      if (counting !== null && !counting.has(displayPath(path))) continue
      if (kept.has(path) || !isContent || isSameState(entry.disk, entry.head)) continue
      kept.set(path, { entry, state })
    }
  }
  const elsewhere = new Set([...current.overlay.values()].flatMap(({ disk }) => disk?.oid ?? []))
  const candidates = [...kept].filter(([path]) => !current.ignoredFiles.has(path))
  const unlisted = candidates.flatMap(([path]) => (current.overlay.has(path) ? [] : [displayPath(path)]))
  const heads = await headsOf(copyPlace(now, environment), current, unlisted)
  const missing: MissingFile[] = []
  for (const [bytes, { entry, state }] of candidates) {
    const path = displayPath(bytes)
    const there = current.overlay.get(bytes)
    const id = there === undefined ? (heads.get(path)?.oid ?? null) : (there.disk?.oid ?? null)
    const own = entry.disk?.oid ?? ''
    // A content that was moved is not lost. One that could not be read is not known to be.
    if (id === own || elsewhere.has(own) || (there !== undefined && there.disk !== null && id === null))
      continue
    const head = there === undefined ? heads.get(path)?.oid : there.head?.oid
    const atStarts = starts.map((start) => start?.repositories[0]?.overlay.get(bytes))
    const startedWith = atStarts.flatMap((then, at) => (then?.disk?.oid === own ? [at] : []))
    const cleanIn = (some: LossInput['starts']) =>
      some.flatMap((then, at) =>
        then !== null && then.repositories[0]?.overlay.has(bytes) === false ? [at] : [],
      )
    const [startedWithout, undoneFrom] = [cleanIn(starts), cleanIn(undone)]
    const isHead = id === head || id === entry.head?.oid
    const isStart = atStarts.some((then) => then?.disk?.oid === id)
    const became = id === null ? 'gone' : isHead ? 'head' : isStart ? 'start' : null
    if (became !== null)
      missing.push({ path, id: own, state, entry, became, startedWith, startedWithout, undoneFrom, head })
    if (missing.length === maxFiles) break
  }
  return missing
}
