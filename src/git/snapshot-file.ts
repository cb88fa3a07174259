import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { IgnoredFile, OverlayEntry, RepositoryState, WorkTreeState } from './state.ts'

const fileName = 'snapshot.json'
const version = 1

interface StoredRepository extends Omit<RepositoryState, 'overlay' | 'ignoredFiles'> {
  readonly overlay: readonly (readonly [string, OverlayEntry])[]
  readonly ignoredFiles: readonly (readonly [string, IgnoredFile])[]
}

interface Stored extends Omit<WorkTreeState, 'repositories'> {
  readonly version: number
  readonly repositories: readonly StoredRepository[]
}

/** Writes a snapshot whole or not at all. */
export async function storeState(directory: string, state: WorkTreeState): Promise<void> {
  const stored: Stored = {
    ...state,
    version,
    repositories: state.repositories.map((repository) => ({
      ...repository,
      overlay: [...repository.overlay],
      ignoredFiles: [...repository.ignoredFiles],
    })),
  }
  const draft = join(directory, `${fileName}.draft`)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(draft, JSON.stringify(stored), { mode: 0o600 })
  await rename(draft, join(directory, fileName))
}

/** Reads a snapshot back. Null when it is gone or was written by another version. */
export async function loadState(directory: string): Promise<WorkTreeState | null> {
  let stored: Stored
  try {
    // Written by `storeState` alone, in a directory that only this user can enter.
    stored = JSON.parse(await readFile(join(directory, fileName), 'utf8')) as Stored
  } catch {
    return null
  }
  if (stored.version !== version) return null
  return {
    ...stored,
    repositories: stored.repositories.map((repository) => ({
      ...repository,
      overlay: new Map(repository.overlay),
      ignoredFiles: new Map(repository.ignoredFiles),
    })),
  }
}
