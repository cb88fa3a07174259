import { containedPath } from '../kernel/files/contained-file.ts'
import type { LinkTargets } from './ports/work-tree.ts'

/** Where paths lead whose folders or last names are symbolic links. No file has to be at a path. */
export function linkTargets(top: string, paths: readonly string[]): LinkTargets {
  return paths.flatMap((path): LinkTargets => {
    const found = containedPath(top, path, { missing: 'allowed', secrets: 'allowed' })
    if (!('reason' in found)) return found.path === path ? [] : [[path, found.path]]
    return found.reason === 'outside' || found.reason === 'link' ? [[path, null]] : []
  })
}
