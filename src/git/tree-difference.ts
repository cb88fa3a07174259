import { nulRecords, type PathBytes } from './path-bytes.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './run-git.ts'
import type { GitState } from './status.ts'

export interface TreeDifference {
  readonly before: GitState | null
  readonly after: GitState | null
}

/** What differs between two trees, file by file. */
export async function treeDifference(
  place: PrivateDirectory,
  before: string,
  after: string,
): Promise<Map<PathBytes, TreeDifference>> {
  if (before === after) return new Map()
  const question = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff']
  return parseRawDifference(nulRecords(await git([...question, before, after], privateCall(place))))
}

/** Parses `diff-tree --raw -z` without renames: `:<mode> <mode> <oid> <oid> <status>`, then the path. */
export function parseRawDifference(records: readonly string[]): Map<PathBytes, TreeDifference> {
  const differences = new Map<PathBytes, TreeDifference>()
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [modeBefore = '', modeAfter = '', before = '', after = ''] = (records[at] ?? '').slice(1).split(' ')
    differences.set(records[at + 1] ?? '', {
      before: state(modeBefore, before),
      after: state(modeAfter, after),
    })
  }
  return differences
}

function state(mode: string, oid: string): GitState | null {
  return mode === '000000' ? null : { mode, oid }
}
