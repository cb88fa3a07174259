import { dirname } from 'node:path'
import { readRegular } from '../files/regular-file.ts'
import type { SnapshotRef } from '../ports/work-tree.ts'
import { displayPath, onDisk, pathBytes } from './path-bytes.ts'
import { loadState } from './snapshot-file.ts'

/** Workspace packages of the project that a snapshot was made of: name → folder, relative to the project. */
export async function workspacePackages(place: SnapshotRef): Promise<ReadonlyMap<string, string>> {
  const state = await loadState(place.directory)
  const packages = new Map<string, string>()
  if (state === null) return packages
  const prefix = pathBytes(place.prefix)
  for (const path of state.packageFiles) {
    const name = await packageName(onDisk(state.top, path))
    if (name !== null) packages.set(name, dirname(displayPath(path.slice(prefix.length))))
  }
  return packages
}

async function packageName(path: string | Buffer): Promise<string | null> {
  try {
    const manifest: unknown = JSON.parse((await readRegular(path)).toString('utf8'))
    if (typeof manifest !== 'object' || manifest === null || !('name' in manifest)) return null
    return typeof manifest.name === 'string' ? manifest.name : null
  } catch {
    return null
  }
}
