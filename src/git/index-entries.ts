import { isAscii } from 'node:buffer'
import type { PathBytes } from './path-bytes.ts'
import type { GitState } from './status.ts'

/** What the index says beside `status`: every tracked path, and the entries that `status` does not look into. */
export interface IndexEntries {
  readonly paths: readonly PathBytes[]
  /** Whether some of them are files of attributes. */
  readonly hasAttributes: boolean
  /** Whether the paths need no decoding to be shown. */
  readonly ascii: boolean
  /** Submodules and other repositories recorded by their commit. */
  readonly submodules: readonly PathBytes[]
  /** Hidden from `status` by a flag. */
  readonly hidden: readonly HiddenEntry[]
}

export interface HiddenEntry {
  readonly path: PathBytes
  readonly index: GitState
  readonly flag: 'skip-worktree' | 'assume-unchanged'
}

/** Parses `git ls-files -z -v -s`: `H 100644 <oid> 0<tab>path`. */
export function parseIndexEntries(output: Buffer): IndexEntries {
  const paths: PathBytes[] = []
  const submodules: PathBytes[] = []
  const hidden: HiddenEntry[] = []
  const text = output.toString('latin1')
  let previous = ''
  let hasAttributes = false
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\0', start)
    const stop = end < 0 ? text.length : end
    const tab = text.indexOf('\t', start)
    const path = text.slice(tab + 1, stop)
    // A conflicted path has one record per stage.
    if (path !== previous) {
      paths.push(path)
      if (path.endsWith('.gitattributes')) hasAttributes = true
      const tag = text[start] ?? 'H'
      if (text.startsWith('16', start + 2)) submodules.push(path)
      if (tag !== 'H' && tag !== 'M') {
        const [mode = '', oid = ''] = text.slice(start + 2, tab).split(' ')
        hidden.push({ path, index: { mode, oid }, flag: tag === 'S' ? 'skip-worktree' : 'assume-unchanged' })
      }
    }
    previous = path
    start = stop + 1
  }
  return { paths, hasAttributes, ascii: isAscii(output), submodules, hidden }
}
