import { createHash, type Hash } from 'node:crypto'
import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { openRegular, readSeenSync } from '../kernel/files/regular-file.ts'
import { processEnd } from '../kernel/process-end.ts'
import { objectId } from './pack.ts'
import { diskPath, type PathBytes } from './paths.ts'
import type { FileStat } from './recorded-state.ts'

export interface DiskFile {
  readonly kind: 'file' | 'link'
  readonly mode: string
  readonly stat: FileStat
}

/** The file or symbolic link at a path. Null for a folder, a pipe or nothing. */
export function diskFile(top: string, path: PathBytes): DiskFile | null {
  const stats = entryAt(top, path)
  if (stats === null) return null
  if (stats.isSymbolicLink()) return { kind: 'link', mode: '120000', stat: fileStat(stats) }
  if (!stats.isFile()) return null
  return { kind: 'file', mode: stats.mode & 0o100 ? '100755' : '100644', stat: fileStat(stats) }
}

/** The same, for paths that git has not checked: a file behind a linked folder does not count. */
export class CarefulDisk {
  readonly #top: string
  readonly #folders = new Map<PathBytes, boolean>([['', true]])

  constructor(top: string) {
    this.#top = top
  }

  file(path: PathBytes): DiskFile | null {
    return this.#isFolder(parentPath(path)) ? diskFile(this.#top, path) : null
  }

  #isFolder(path: PathBytes): boolean {
    const cached = this.#folders.get(path)
    if (cached !== undefined) return cached
    const answer = this.#isFolder(parentPath(path)) && entryAt(this.#top, path)?.isDirectory() === true
    this.#folders.set(path, answer)
    return answer
  }
}

export function isSameStat(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.modified === b.modified && a.changed === b.changed
}

/** The content of a small file, or the target of a link, found just now. Null if it cannot be read. */
export function contentAt(top: string, path: PathBytes, { kind }: Pick<DiskFile, 'kind'>): Buffer | null {
  try {
    const place = diskPath(top, path)
    return kind === 'link' ? readlinkSync(place, { encoding: 'buffer' }) : readSeenSync(place)
  } catch {
    return null
  }
}

/** The id of a blob with this content. */
export function blobId(objectFormat: string, content: Buffer): string {
  return objectId(objectFormat, { type: 'blob', content })
}

/** The id of a small file or link as it is, with no conversion. Null when it cannot be read. */
export function rawBlobId(
  objectFormat: string,
  top: string,
  path: PathBytes,
  file = diskFile(top, path),
): string | null {
  const content = file === null ? null : contentAt(top, path, file)
  return content === null ? null : blobId(objectFormat, content)
}

/** The same for a file of any size, read without blocking. */
export async function blobIdOf(objectFormat: string, top: string, path: PathBytes): Promise<string | null> {
  const file = diskFile(top, path)
  if (file === null || file.kind === 'link' || file.stat.size <= smallFile) {
    return rawBlobId(objectFormat, top, path, file)
  }
  const hash = createHash(objectFormat).update(`blob ${file.stat.size}\0`)
  return digest(hash, diskPath(top, path)).catch(() => {
    processEnd.throwIfAborted()
    return null
  })
}

const smallFile = 1024 * 1024

/** The SHA-256 of a file of any size. */
export function fileSha256(top: string, path: PathBytes): Promise<string> {
  return digest(createHash('sha256'), diskPath(top, path))
}

async function digest(hash: Hash, path: string | Buffer): Promise<string> {
  const file = await openRegular(path)
  // The stream closes the file.
  for await (const chunk of file.createReadStream({ signal: processEnd })) hash.update(chunk)
  return hash.digest('hex')
}

function parentPath(path: PathBytes): PathBytes {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '' : path.slice(0, slash)
}

function entryAt(top: string, path: PathBytes): Stats | null {
  try {
    return lstatSync(diskPath(top, path), { throwIfNoEntry: false }) ?? null
  } catch {
    // If a parent is a file, or the name is too long, nothing exists there.
    return null
  }
}

function fileStat(stats: Stats): FileStat {
  return { size: stats.size, modified: stats.mtimeMs, changed: stats.ctimeMs }
}
