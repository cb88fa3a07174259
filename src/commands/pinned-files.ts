import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openRegular } from '../files/regular-file.ts'

/** A path, with the SHA-256 of what is there: null for nothing, a word for what is no file. */
export type Pinned = readonly [path: string, content: string | null]

/** The content of pinned files, in one order. A folder stands for every file in it. */
export async function pinnedFiles(folder: string, paths: readonly string[]): Promise<Pinned[]> {
  const pinned = new Map<string, string | null>()
  for (const path of paths) {
    for (const [name, content] of await contentsOf(folder, path)) pinned.set(name, content)
  }
  return [...pinned].sort(([a], [b]) => (a < b ? -1 : 1))
}

async function contentsOf(folder: string, path: string): Promise<Pinned[]> {
  const absolute = join(folder, path)
  const found = await stat(absolute).catch(() => null)
  if (found === null) return [[path, null]]
  if (found.isFile()) return [[path, await sha256(absolute)]]
  if (!found.isDirectory()) return [[path, 'special']]
  const inside: Pinned[] = [[path, 'folder']]
  for (const entry of await readdir(absolute, { withFileTypes: true })) {
    const name = `${path.replace(/\/+$/, '')}/${entry.name}`
    // A linked folder could lead back to where it is.
    const linked = entry.isSymbolicLink() && (await stat(join(folder, name)).catch(() => null))?.isDirectory()
    inside.push(...(linked ? [[name, 'linked folder'] as const] : await contentsOf(folder, name)))
  }
  return inside
}

async function sha256(path: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    const file = await openRegular(path)
    // The stream closes the file.
    for await (const chunk of file.createReadStream()) hash.update(chunk)
    return hash.digest('hex')
  } catch {
    return 'unreadable'
  }
}
