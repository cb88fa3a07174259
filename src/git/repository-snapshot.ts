import { contentSettingsOf } from './content-settings.ts'
import { OutdatedPlace } from './find-repository.ts'
import { readIgnored } from './ignored.ts'
import { type IndexEntries, readIndexEntries } from './index-entries.ts'
import { contentBudget, contentsFolder } from './kept-contents.ts'
import { operationInProgress } from './operation-in-progress.ts'
import { readOverlay } from './overlay.ts'
import { isAsciiPath, nulRecords, type PathBytes } from './path-bytes.ts'
import { type PrivateDirectory, privateCall, writePrivateDirectory } from './private-directory.ts'
import { pathsToReadRaw } from './raw-content.ts'
import { readRefTips } from './ref-tips.ts'
import { reflogPosition } from './reflog.ts'
import type { Repository } from './repository.ts'
import { type Environment, type GitCall, git, runGit } from './run-git.ts'
import { doubtfulTimes } from './set-times.ts'
import type { RepositoryState, WorkTreeState } from './state.ts'
import { parseStatus, type Status } from './status.ts'
import { suspiciousKeys } from './suspicious.ts'
import { emptyTree } from './tree-object.ts'

export interface RepositorySnapshot {
  readonly state: RepositoryState
  /** Every path on disk that is not ignored, relative to this repository's top. */
  readonly paths: readonly PathBytes[]
  /** Whether they need no decoding to be shown. */
  readonly ascii: boolean
  /** Folders that may hold repositories of their own: untracked ones, ending with `/`, and submodules. */
  readonly nested: readonly PathBytes[]
  readonly notes: readonly string[]
}

export interface Keeping {
  readonly stateFolder: string
  /** The most that contents may take, in bytes. */
  readonly budget: number
  /** The last snapshot of the same work tree: what did not change since is not read again. */
  readonly earlier: WorkTreeState | null
}

export interface SnapshotPlace {
  readonly directory: string
  readonly prefix: PathBytes
  readonly environment: Environment
  /** Where contents are kept for all snapshots of the project; null where they are not to be kept. */
  readonly keeping: Keeping | null
  readonly includes: (path: PathBytes) => boolean
}

const statusQuestion = [
  'status',
  '--porcelain=v2',
  '-z',
  '--no-renames',
  '--untracked-files=all',
  '--ignored=matching',
  '--ignore-submodules=dirty',
]

/** Records one repository, without the ones nested in it. */
export async function snapshotRepository(
  repository: Repository,
  place: SnapshotPlace,
): Promise<RepositorySnapshot> {
  writePrivateDirectory(place.directory, repository)
  const contents =
    place.keeping === null ? null : contentsFolder(place.keeping.stateFolder, repository.objectFormat)
  const own: PrivateDirectory = {
    directory: place.directory,
    top: repository.top,
    index: repository.index,
    objects: [repository.objects],
    environment: place.environment,
    ...(contents === null ? {} : { contents }),
  }
  const [statusOutput, { index, doubtful }, settings, position, operation, refs] = await Promise.all([
    statusOf(repository, privateCall(own)),
    // Read while `status` is at work.
    readIndexEntries(own, repository.objectFormat, place.includes).then(async (index) => {
      return { index, doubtful: await doubtfulTimes(own, index.setTimes) }
    }),
    contentSettingsOf(repository, place.environment),
    reflogPosition(repository.reflog),
    operationInProgress(repository.gitFolder),
    readRefTips(repository.commonFolder),
  ])
  const status = only(parseStatus(nulRecords(statusOutput)), place.includes)
  const raw = await pathsToReadRaw(own, repository, { status, index })
  const overlay = await readOverlay(own, repository, {
    status,
    index,
    doubtful,
    raw,
    known: {
      earlier: place.keeping?.earlier?.repositories.find(({ prefix }) => prefix === place.prefix) ?? null,
      takenAt: place.keeping?.earlier?.takenAt ?? 0,
      settings,
      budget: place.keeping?.budget ?? contentBudget,
    },
  })
  const ignored = readIgnored(repository.top, repository.objectFormat, status.ignored)
  return {
    state: {
      prefix: place.prefix,
      directory: place.directory,
      gitFolder: repository.gitFolder,
      objects: repository.objects,
      reflog: repository.reflog,
      reflogPosition: position,
      head: repository.head?.commit ?? null,
      tree: repository.head?.tree ?? emptyTree(repository.objectFormat),
      refs,
      overlay: overlay.entries,
      ignoredFiles: ignored.files,
      ignoredFolders: ignored.folders,
      submodules: index.submodules,
      operation,
      conflicts: status.conflicts.map(({ path }) => path),
      suspicious: suspiciousKeys(repository.configuration),
      settings,
      leftOut: overlay.leftOut,
      ...(contents === null ? {} : { contents }),
    },
    paths: presentPaths(index, overlay.entries),
    ascii: index.ascii && status.untracked.every(isAsciiPath),
    nested: [...index.submodules, ...status.untracked.filter((path) => path.endsWith('/'))],
    notes: overlay.notes,
  }
}

async function statusOf(repository: Repository, call: GitCall): Promise<Buffer> {
  if (repository.remembered === undefined) return git(statusQuestion, call)
  const { code, output, complaint } = await runGit(statusQuestion, call)
  if (code !== 0) throw new OutdatedPlace(complaint)
  return output
}

function only(status: Status, includes: (path: PathBytes) => boolean): Status {
  return {
    tracked: status.tracked.filter(({ path }) => includes(path)),
    conflicts: status.conflicts.filter(({ path }) => includes(path)),
    untracked: status.untracked.filter(includes),
    ignored: status.ignored.filter(includes),
  }
}

function presentPaths(index: IndexEntries, overlay: RepositoryState['overlay']): readonly PathBytes[] {
  // Outside a sparse checkout: in the index, not on disk.
  const absent = new Set(index.hidden.map(({ path }) => path).filter((path) => !overlay.has(path)))
  const untracked: PathBytes[] = []
  for (const [path, entry] of overlay) {
    if (entry.disk === null) absent.add(path)
    else if (!entry.tracked) untracked.push(path)
  }
  const tracked = absent.size === 0 ? index.paths : index.paths.filter((path) => !absent.has(path))
  return untracked.length === 0 ? tracked : [...tracked, ...untracked]
}
