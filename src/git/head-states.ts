import { displayPath, nulRecords, type PathBytes, pathBytes } from './path-bytes.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import type { Repository } from './repository.ts'
import { git } from './run-git.ts'
import type { GitState } from './status.ts'

// Below every system's limit for a command line.
const pathsPerCall = 200

/** What HEAD records of a few paths. */
export async function headStates(
  place: PrivateDirectory,
  repository: Repository,
  paths: readonly PathBytes[],
): Promise<Map<PathBytes, GitState>> {
  const states = new Map<PathBytes, GitState>()
  const { head } = repository
  if (head === null) return states
  for (let from = 0; from < paths.length; from += pathsPerCall) {
    const some = paths.slice(from, from + pathsPerCall)
    // An argument is text for Node: where a path is not UTF-8, the whole tree is listed.
    const names = some.map(displayPath)
    const named = names.every((name, at) => pathBytes(name) === some[at]) ? names : []
    const output = await git(
      ['ls-tree', '-r', '-z', '--full-tree', head.tree, '--', ...named],
      privateCall(place),
    )
    for (const record of nulRecords(output)) {
      const tab = record.indexOf('\t')
      const [mode = '', , oid = ''] = record.slice(0, tab).split(' ')
      states.set(record.slice(tab + 1), { mode, oid })
    }
  }
  return states
}
