import { relative } from 'node:path'
import { type PathBytes, pathBytes } from './path-bytes.ts'

const ownFolder = '.waymark/'
const watched = '.waymark/processes/'

/** The folders, from the work tree's top, that are Waymark's own and no part of any snapshot. */
export function excludedFolders(top: string, prefix: string, stateFolder: string): PathBytes[] {
  const folders = new Set([ownFolder, `${pathBytes(prefix)}${ownFolder}`])
  const state = relative(top, stateFolder)
  if (state !== '' && !state.startsWith('..')) folders.add(`${pathBytes(state)}/`)
  return [...folders]
}

/** Whether a path belongs to the snapshot. Process definitions do, though they lie in Waymark's folder. */
export function isIncluded(path: PathBytes, excluded: readonly PathBytes[]): boolean {
  return !excluded.some((folder) => {
    if (!path.startsWith(folder)) return false
    return !(folder.endsWith(ownFolder) && path.startsWith(`${folder.slice(0, -ownFolder.length)}${watched}`))
  })
}
