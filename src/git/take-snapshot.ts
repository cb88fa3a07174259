import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Snapshot, SnapshotRequest } from '../ports/work-tree.ts'
import { keepBaseline } from './baseline.ts'
import { checksumSnapshot } from './checksum/engine.ts'
import { sameState } from './comparison.ts'
import { latestScan, rememberScan } from './latest-scan.ts'
import { type Location, locateFolder } from './location.ts'
import { missingRepository } from './missing-repository.ts'
import { displayPath } from './path-bytes.ts'
import type { Repository } from './repository.ts'
import type { Environment } from './run-git.ts'
import { recordSnapshot } from './snapshot.ts'
import type { WorkTreeState } from './state.ts'

export interface SnapshotContext {
  readonly stateFolder: string
  readonly environment: Environment
  /** The most that kept contents may take, in bytes. */
  readonly budget: number
  /** Takes what goes on after the answer. */
  readonly afterwards: (work: Promise<void>) => void
}

/** Records a folder's work tree in a directory, with the engine that the request or the folder calls for. */
export async function takeSnapshot(
  request: SnapshotRequest,
  directory: string,
  context: SnapshotContext,
): Promise<Snapshot> {
  const location = await locateFolder(request.folder, context.environment)
  const repository = await repositoryFor(request, location, { directory, environment: context.environment })
  if (repository === null) return scan(location, directory, context)
  const { stateFolder, environment, budget } = context
  const recorded = await recordSnapshot(repository, {
    directory,
    stateFolder,
    environment,
    budget,
    repositoryMissing: location.engine !== 'git',
  })
  // Once the answer is out: nobody should wait for it.
  context.afterwards(
    nextTurn()
      .then(() => keepBaseline(recorded.state, environment))
      // What cannot be kept is missed only where the repository loses it as well.
      .catch(() => undefined),
  )
  const { top, prefix, head } = repository
  return {
    ref: { engine: 'git', directory, top, prefix, id: head?.commit ?? 'unborn' },
    paths: recorded.paths,
    dirty: uncommitted(recorded.state),
    notes: recorded.notes,
  }
}

function uncommitted({ repositories }: WorkTreeState): string[] {
  return repositories.flatMap(({ prefix, overlay }) =>
    [...overlay]
      .filter(([, { disk, head }]) => !sameState(disk, head))
      .map(([path]) => displayPath(prefix + path)),
  )
}

// Null where checksums are to be used. An attempt that began with git stays with it even if `.git` has gone.
async function repositoryFor(
  request: SnapshotRequest,
  location: Location,
  { directory, environment }: { readonly directory: string; readonly environment: Environment },
): Promise<Repository | null> {
  if (request.engine === 'checksum') return null
  if (location.engine === 'git') return location.repository
  if (request.engine !== 'git' || location.hasRepository) return null
  return missingRepository(request.top ?? location.folder, directory, environment)
}

async function scan(location: Location, directory: string, context: SnapshotContext): Promise<Snapshot> {
  const top = location.folder
  const reuse = await latestScan(context.stateFolder, top)
  const snapshot = await checksumSnapshot({
    top,
    prefix: '',
    directory,
    ...(reuse === undefined ? {} : { reuse }),
  })
  await rememberScan(context.stateFolder, top, directory)
  const notes =
    location.engine === 'checksum' && location.hasRepository
      ? [`${location.reason} Files are compared by checksum instead.`]
      : []
  return { ...snapshot, notes: [...notes, ...snapshot.notes] }
}
