import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { privateConfiguration } from './configuration.ts'
import type { Repository } from './repository.ts'
import type { Environment, GitCall } from './run-git.ts'

/** What a private directory needs to know to work on a work tree. */
export interface PrivateDirectory {
  readonly directory: string
  readonly top: string
  /** The index that `status` reads: the user's own, never written. */
  readonly index: string
  /** The user's objects, read only, and those of other snapshots. */
  readonly objects: readonly string[]
  readonly environment: Environment
}

/** Writes a git directory of our own, so that the user's configuration is never in force. */
export async function writePrivateDirectory(directory: string, repository: Repository): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await Promise.all(
    ['info', 'refs', 'objects/info', 'objects/pack'].map((name) =>
      mkdir(join(directory, name), { recursive: true, mode: 0o700 }),
    ),
  )
  await Promise.all([
    writeFile(
      join(directory, 'config'),
      privateConfiguration(repository.configuration, repository.objectFormat),
    ),
    writeFile(
      join(directory, 'HEAD'),
      repository.head === null ? 'ref: refs/heads/unborn\n' : `${repository.head.commit}\n`,
    ),
    copyIfThere(repository.exclude, join(directory, 'info/exclude')),
    copyIfThere(repository.attributes, join(directory, 'info/attributes')),
    copyIfThere(repository.sparseCheckout, join(directory, 'info/sparse-checkout')),
    copyIfThere(repository.shallow, join(directory, 'shallow')),
    copySharedIndexes(dirname(repository.index), directory),
  ])
}

/** A call in the private directory, on the user's index. */
export function privateCall(place: PrivateDirectory, input?: Buffer): GitCall {
  return {
    folder: place.top,
    environment: {
      ...place.environment,
      GIT_DIR: place.directory,
      GIT_WORK_TREE: place.top,
      GIT_INDEX_FILE: place.index,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: place.objects.map(alternate).join(':'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    },
    ...(input === undefined ? {} : { input }),
  }
}

// git splits the variable at colons unless an entry is quoted.
function alternate(path: string): string {
  return /[:"\\\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"` : path
}

async function copyIfThere(from: string, to: string): Promise<void> {
  if (from === '') return
  await copyFile(from, to).catch(ignoreMissing)
}

// A split index names its shared part by file name in the git directory. Copied, not linked: git freshens the
// time stamp of a shared index that it reads.
async function copySharedIndexes(folder: string, directory: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const shared = names.filter((name) => name.startsWith('sharedindex.'))
  await Promise.all(shared.map((name) => copyIfThere(join(folder, name), join(directory, name))))
}

function ignoreMissing(error: unknown): void {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
    return
  throw error
}
