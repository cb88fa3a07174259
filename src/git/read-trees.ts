import type { PathBytes } from './path-bytes.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './run-git.ts'
import { formatOf, parseTree, type TreeEntries } from './tree-object.ts'

/** What some folders of a tree hold, by their path; `''` is the tree itself. Those that it does not have are left out. */
export async function readTrees(
  place: PrivateDirectory,
  root: string,
  folders: readonly PathBytes[],
): Promise<Map<PathBytes, TreeEntries>> {
  const names = folders.map((folder) => `${root}:${folder}`)
  // Only a newer git can be asked for names that hold the usual separator.
  const odd = names.some((name) => name.includes('\n'))
  const input = Buffer.from(names.map((name) => `${name}${odd ? '\0' : '\n'}`).join(''), 'latin1')
  const output = await git(
    ['cat-file', '--batch', '--buffer', ...(odd ? ['-z'] : [])],
    privateCall(place, input),
  )
  const trees = new Map<PathBytes, TreeEntries>()
  let at = 0
  for (const [which, folder] of folders.entries()) {
    const missing = Buffer.from(`${names[which]} missing\n`, 'latin1')
    if (output.subarray(at, at + missing.length).equals(missing)) {
      at += missing.length
      continue
    }
    const line = output.indexOf('\n', at)
    const [, type, size] = output.toString('latin1', at, line).split(' ')
    at = line + 1
    // A repository in place of a folder has a type and no content.
    if (size === undefined) continue
    const end = at + Number(size)
    if (type === 'tree') trees.set(folder, parseTree(output.subarray(at, end), formatOf(root)))
    at = end + 1
  }
  return trees
}
