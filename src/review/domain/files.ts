import { namesOf, type ReportedChange } from '../../track/domain/changes.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../track/domain/task.ts'

/** An attempt with its changes. `end` is its last state: measured at its end, or now. */
export interface ReviewedAttempt {
  readonly attempt: Attempt
  readonly end: SnapshotLocation
  readonly changes: readonly ReportedChange[]
}

/** A file that attempts under review changed, with the snapshots of its first and last states. */
export interface TouchedFile {
  readonly path: string
  /** The path of its first state. */
  readonly from: string
  /** The work tree, unique among all machines. */
  readonly tree: string
  readonly before: SnapshotLocation
  readonly after: SnapshotLocation
  /** Whether the file existed before the first change, and exists after the last. */
  readonly wasThere: boolean
  readonly isThere: boolean
  /** The attempts that changed it, in order, with its path at their start and end. */
  readonly steps: readonly { readonly work: ReviewedAttempt; readonly from: string; readonly path: string }[]
  readonly certainty: ReportedChange['attribution']
  /** The commands of people that wrote it later, in order, and what it was before them. */
  readonly later?: {
    readonly writes: readonly LaterWrite[]
    readonly end: SnapshotLocation
    readonly path: string
    readonly isThere: boolean
  }
}

const ranks = ['certain', 'probable', 'contested'] as const

/** What a person took back or restored after the attempts in a work tree. */
export interface LaterWrite {
  readonly before: SnapshotLocation
  readonly after: SnapshotLocation
  /** The reviewed tasks that it undid; null for a restore. */
  readonly undone: ReadonlySet<string> | null
  readonly files: ReadonlySet<string>
}

/**
 * The files that attempts changed, once for each work tree: from the state before the first change to the last measured
 * state of that tree, or that of a later write to the file. Leaves out changes that git brought.
 */
export function touchedFiles(
  works: readonly ReviewedAttempt[],
  later: ReadonlyMap<string, readonly LaterWrite[]> = new Map(),
): readonly TouchedFile[] {
  const files = new Map<string, TouchedFile>()
  const ends = new Map<string, SnapshotLocation>()
  for (const work of works.toSorted((a, b) => endedAt(a) - endedAt(b))) {
    const tree = treeOf(work.attempt.snapshot)
    ends.set(tree, work.end)
    const own = work.changes.filter(({ origin }) => origin !== 'imported')
    const before = new Map(own.flatMap(namesOf).map((name) => [name, files.get(`${tree}\0${name}`)]))
    for (const { from } of own) if (from !== undefined) files.delete(`${tree}\0${from}`)
    for (const change of own.flatMap((one) => splitRename(one, before))) {
      const { path, from = path } = change
      const earlier = before.get(from)
      const certainty =
        ranks[Math.max(ranks.indexOf(change.attribution), ranks.indexOf(earlier?.certainty ?? 'certain'))]
      // An attempt that began first may end last.
      const first = earlier?.steps.every(({ work: other }) => beganAt(other) <= beganAt(work))
        ? earlier
        : null
      files.set(`${tree}\0${path}`, {
        path,
        from: first?.from ?? from,
        tree,
        before: first?.before ?? work.attempt.snapshot,
        after: work.end,
        wasThere: first?.wasThere ?? change.change !== 'added',
        isThere: change.change !== 'deleted',
        steps: [...(earlier?.steps ?? []), { work, from, path }],
        certainty: certainty ?? 'certain',
      })
    }
  }
  return [...files.values()]
    .map((file) => withLater({ ...file, after: ends.get(file.tree) ?? file.after }, later.get(file.tree)))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.tree < b.tree ? -1 : 1))
}

function beganAt({ attempt }: ReviewedAttempt): number {
  return attempt.openedAt
}

/** An open attempt is measured now. */
function endedAt({ attempt }: ReviewedAttempt): number {
  return attempt.closedAt ?? Number.POSITIVE_INFINITY
}

/**
 * What people call each work tree: its folder, and its machine where there are several. Equal ones are told apart by the
 * folders above, or a number.
 */
export function workTreeNames(places: readonly SnapshotLocation[]): ReadonlyMap<string, string> {
  const trees = [...new Map(places.map((place) => [treeOf(place), place]))].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const isOneMachine = new Set(trees.map(([, { machineId }]) => machineId)).size === 1
  const named = trees.map(([tree, { top, machineId, machineName = 'another machine' }]) => {
    const machine = machineId === undefined ? 'the server' : machineName
    return { tree, folders: top.split(/[\\/]/).filter(Boolean), on: isOneMachine ? '' : ` on ${machine}` }
  })
  const nameWith = ({ folders, on }: (typeof named)[number], count: number) =>
    `${folders.slice(-count).join('/')}${on}`
  return new Map(
    named.map((one) => {
      const sameAt = (count: number) =>
        named.filter((other) => nameWith(other, count) === nameWith(one, count))
      const counts = one.folders.map((_, at) => at + 1)
      const count = counts.find((folders) => sameAt(folders).length === 1)
      if (count !== undefined) return [one.tree, nameWith(one, count)]
      return [one.tree, `${nameWith(one, 1)} (${sameAt(one.folders.length).indexOf(one) + 1})`]
    }),
  )
}

/** A renamed file whose old path was written again is back there. */
function withLater(file: TouchedFile, all: readonly LaterWrite[] = []): TouchedFile {
  const writes = all.filter(({ files }) => files.has(file.path))
  const last = writes.at(-1)
  if (last === undefined) return file
  const { path, from, after: end, isThere } = file
  const isBack = from !== path && writes.some(({ files }) => files.has(from))
  const later = { writes, end, path, isThere }
  return { ...file, after: last.after, later, ...(isBack && { path: from, isThere: true }) }
}

/** The snapshots and names by which a later written file is compared. */
export function laterStates({ later, before, path, from, steps }: TouchedFile) {
  const places = later?.writes.flatMap((write) => [write.before, write.after]) ?? []
  return later === undefined
    ? { places, names: [] }
    : {
        places: [before, later.end, ...steps.map(({ work }) => work.end), ...places],
        names: [...new Set([path, from, later.path])],
      }
}

/**
 * A file without what a person typed around an undo or a restore: that is in no attempt. It is shown as the attempts left
 * it, or as before them if all are undone. Else nothing is known of whose its changes are.
 */
export function withoutTyped(
  file: TouchedFile,
  contentAt: (place: SnapshotLocation, path: string) => string | null | undefined,
): TouchedFile {
  const { later, before, steps, from, wasThere } = file
  const { places, names } = laterStates(file)
  const contentsAt = (place: SnapshotLocation) => names.map((name) => contentAt(place, name))
  if (later === undefined || places.some((place) => contentsAt(place).includes(undefined))) return file
  const of = (place: SnapshotLocation) => JSON.stringify(contentsAt(place))
  const known = new Set([before, later.end, ...steps.map(({ work }) => work.end)].map(of))
  let isTyped = false
  for (const write of later.writes) {
    isTyped =
      !known.has(of(write.undone === null ? write.after : write.before)) && !known.has(of(write.after))
    if (!isTyped) known.add(of(write.after))
  }
  if (!isTyped) return file
  const undone = later.writes.at(-1)?.undone
  if (undone === null) return { ...file, path: later.path, after: later.end, isThere: later.isThere }
  return steps.every(({ work }) => undone?.has(work.attempt.taskId))
    ? { ...file, path: from, after: before, isThere: wasThere }
    : { ...file, certainty: 'contested' }
}

/** Whether the approved files hold all that attempts at a task changed, in contents that could be read. */
export function isWhollyShown(
  attempts: readonly Pick<Attempt, 'id'>[],
  {
    works,
    files,
  }: {
    readonly works: readonly ReviewedAttempt[]
    readonly files: readonly {
      readonly before: { readonly id: string | null } | null
      readonly after: { readonly id: string | null } | null
      readonly touched: Pick<TouchedFile, 'steps'>
    }[]
  },
): boolean {
  const ids = new Set(attempts.map(({ id }) => id))
  const measured = new Set(works.map(({ attempt }) => attempt.id))
  const own = files.filter(({ touched }) => touched.steps.some(({ work }) => ids.has(work.attempt.id)))
  return (
    own.length > 0 &&
    attempts.every(({ id }) => measured.has(id)) &&
    own.every(({ before, after }) => [before, after].every((state) => state === null || state.id !== null))
  )
}

/** A file that was renamed over another one counts as two changes. Otherwise the overwritten file would be missing. */
function splitRename(
  change: ReportedChange,
  before: ReadonlyMap<string, unknown>,
): readonly ReportedChange[] {
  const { from, ...rest } = change
  if (from === undefined || before.get(change.path) === undefined) return [change]
  return [
    { ...rest, change: 'modified' },
    { ...rest, path: from, change: 'deleted' },
  ]
}

export const displayKinds = ['text', 'image', 'binary', 'link', 'submodule'] as const
type FileDisplayKind = (typeof displayKinds)[number]

const images = /\.(?:png|jpe?g|gif|webp|avif|bmp|ico)$/i

/** How a file is displayed, by its name, its mode and the start of its content. */
export function displayKind(
  path: string,
  { modes, starts }: { readonly modes: readonly string[]; readonly starts: readonly Uint8Array[] },
): FileDisplayKind {
  if (modes.includes('160000')) return 'submodule'
  if (modes.includes('120000')) return 'link'
  const isBinary = starts.some((bytes) => bytes.subarray(0, 8000).includes(0))
  if (images.test(path) && (isBinary || starts.length === 0)) return 'image'
  return isBinary ? 'binary' : 'text'
}

const lockFiles = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'Cargo.lock',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'pdm.lock',
  'go.sum',
  'composer.lock',
  'Gemfile.lock',
  'flake.lock',
  'mix.lock',
  'Podfile.lock',
  'packages.lock.json',
  'gradle.lockfile',
])
const generatedPaths =
  /(?:^|\/)(?:dist|vendor|node_modules|__snapshots__)\/|\.min\.(?:js|css)$|\.(?:map|snap)$|[._-]generated\.|\.pb\.(?:go|cc|h)$|_pb2\.py$/
const generatedWords = /@generated\b|\bDO NOT EDIT\b|\bauto-?generated\b/i

export const foldReasons = ['lock file', 'generated', 'large'] as const
type FoldReason = (typeof foldReasons)[number]

/** Why a file is folded at first; null if it is not. */
export function foldReason(
  path: string,
  { head, lines, bytes }: { readonly head: string; readonly lines: number; readonly bytes: number },
): FoldReason | null {
  if (lockFiles.has(path.slice(path.lastIndexOf('/') + 1))) return 'lock file'
  if (generatedPaths.test(path) || generatedWords.test(head)) return 'generated'
  return lines > 1500 || bytes > 500_000 ? 'large' : null
}
