import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readRegularSync } from '../kernel/files/regular-file.ts'
import { privateConfiguration } from './configuration.ts'
import type { GitCall, GitEnvironment } from './process.ts'
import type { Repository } from './repository.ts'

/** A private git directory with the work tree that it is for. */
export interface PrivateDirectory {
  readonly directory: string
  readonly top: string
  /** The index that `status` reads: the user's own, never written. */
  readonly index: string
  /** The user's objects, read only, and those of other snapshots. */
  readonly objects: readonly string[]
  /** The folder for contents; the directory itself if absent. */
  readonly contents?: string
  readonly environment: GitEnvironment
}

/**
 * Writes a private git directory, so that the user's configuration never applies. Synchronous, as everything waits for
 * it and writing a few small files is faster this way.
 */
export function writePrivateDirectory(directory: string, repository: Repository): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const name of ['info', 'refs', 'objects']) mkdirSync(join(directory, name), { mode: 0o700 })
  writeFileSync(
    join(directory, 'config'),
    privateConfiguration(repository.configuration, repository.objectFormat),
  )
  writeFileSync(
    join(directory, 'HEAD'),
    repository.head === null ? 'ref: refs/heads/unborn\n' : `${repository.head.commit}\n`,
  )
  copyIfExists(repository.exclude, join(directory, 'info/exclude'))
  copyIfExists(repository.attributes, join(directory, 'info/attributes'))
  // Decide by content whether a file is text, so that no attribute hides its lines from a diff.
  appendFileSync(join(directory, 'info/attributes'), '\n* !diff\n')
  copyIfExists(repository.sparseCheckout, join(directory, 'info/sparse-checkout'))
  copyIfExists(repository.shallow, join(directory, 'shallow'))
  copySharedIndexes(dirname(repository.index), directory)
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
      GIT_ALTERNATE_OBJECT_DIRECTORIES: readableObjectFolders(place).map(quoteAlternate).join(':'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    },
    ...(input === undefined ? {} : { input }),
  }
}

/** The same, but new objects are kept for all snapshots of the project. */
export function callKeepingObjects(place: PrivateDirectory, input?: Buffer): GitCall {
  const call = privateCall(place, input)
  if (place.contents === undefined) return call
  return { ...call, environment: { ...call.environment, GIT_OBJECT_DIRECTORY: place.contents } }
}

function readableObjectFolders({ objects, contents }: PrivateDirectory): readonly string[] {
  return contents === undefined ? objects : [...objects, contents]
}

/** A folder in `GIT_ALTERNATE_OBJECT_DIRECTORIES`: git splits it at colons unless an entry is quoted. */
export function quoteAlternate(path: string): string {
  return /[:"\\\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"` : path
}

function copyIfExists(from: string, to: string): void {
  if (from !== '' && existsSync(from)) writeFileSync(to, readRegularSync(from), { mode: 0o600 })
}

// A split index names its shared part by file name in the git directory. Copied, not linked: git freshens the
// time stamp of a shared index that it reads.
function copySharedIndexes(folder: string, directory: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    if (name.startsWith('sharedindex.')) copyIfExists(join(folder, name), join(directory, name))
  }
}
