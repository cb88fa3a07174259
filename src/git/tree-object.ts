import { createHash } from 'node:crypto'
import type { PathBytes } from './path-bytes.ts'
import type { GitState } from './status.ts'

/** What a tree holds, by name. */
export type TreeEntries = ReadonlyMap<PathBytes, GitState>

export const folderMode = '40000'

/** The format of the objects that an id belongs to. */
export function formatOf(oid: string): 'sha1' | 'sha256' {
  return oid.length === 64 ? 'sha256' : 'sha1'
}

/** The id of the tree with nothing in it, which git knows without having it. */
export function emptyTree(objectFormat: string): string {
  return createHash(objectFormat).update('tree 0\0').digest('hex')
}

/** Parses the content of a tree object: `<mode> <name>\0<id>`, again and again. */
export function parseTree(content: Buffer, objectFormat: string): TreeEntries {
  const idLength = objectFormat === 'sha256' ? 32 : 20
  const entries = new Map<PathBytes, GitState>()
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const end = content.indexOf(0, space)
    const next = end + 1 + idLength
    entries.set(content.toString('latin1', space + 1, end), {
      mode: content.toString('latin1', at, space),
      oid: content.toString('hex', end + 1, next),
    })
    at = next
  }
  return entries
}

/** The id of the tree that holds these entries. */
export function treeId(entries: TreeEntries, objectFormat: string): string {
  const records = [...entries]
    .map(([name, state]) => ({ name, state, order: state.mode === folderMode ? `${name}/` : name }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
    .flatMap(({ name, state }) => [
      Buffer.from(`${state.mode} ${name}\0`, 'latin1'),
      Buffer.from(state.oid, 'hex'),
    ])
  const body = Buffer.concat(records)
  return createHash(objectFormat).update(`tree ${body.length}\0`).update(body).digest('hex')
}
