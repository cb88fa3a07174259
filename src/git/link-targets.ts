import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { containedPath } from '../kernel/files/contained-file.ts'
import type { LinkTargets } from './ports/work-tree.ts'

/** Clocks of file systems may be coarse, and behind. */
const clockSlackMs = 2_000

/** Where paths lead whose folders or last names are symbolic links. No file has to be at a path. */
export function linkTargets(top: string, paths: readonly string[], since: number): LinkTargets {
  return paths.flatMap((path): LinkTargets => {
    const found = containedPath(top, path, { missing: 'allowed', secrets: 'allowed' })
    if (!('reason' in found)) return found.path === path ? [] : [[path, found.path]]
    return found.reason === 'outside' || found.reason === 'link'
      ? [[path, isWrittenSince(join(top, path), since) ? null : path]]
      : []
  })
}

/** A file that is gone was removed from its folder: whether a file outside exists is not revealed. */
function isWrittenSince(path: string, since: number): boolean {
  const stats = [path, dirname(path)].flatMap((one) => statSync(one, { throwIfNoEntry: false }) ?? []).at(0)
  return stats !== undefined && stats.ctimeMs >= since - clockSlackMs
}
