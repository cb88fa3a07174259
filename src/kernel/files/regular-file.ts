import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  promises,
  readFileSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

// Windows has neither flag: undefined counts as 0, and there a pipe is no file of a folder.
const { O_NOFOLLOW, O_NONBLOCK: noWait } = constants

/** A path is not a regular file: reading a pipe or a device may never end. */
class NotRegularFile extends Error {
  constructor(path: string | Buffer, kind: string) {
    super(`${path.toString()} is ${kind}, not a file.`)
    this.name = 'NotRegularFile'
  }
}

/** The kind of an entry that is neither file nor folder, in words; null for those two. */
export function specialKind(stats: Stats): string | null {
  if (stats.isFile() || stats.isDirectory()) return null
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

/** Opens a regular file, through links, without ever waiting for a writer. */
export async function openRegular(path: string | Buffer): Promise<FileHandle> {
  refuseSpecial(path, await promises.stat(path))
  // Something else may have been put there since.
  const file = await promises.open(path, noWait)
  try {
    refuseSpecial(path, await file.stat())
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Up to this size, in bytes, a file is read sooner than Node's threads are asked to read it. */
const short = 64 * 1024

/** Reads a regular file, through links. Throws NotRegularFile for a pipe, a socket, a device or a folder. */
export async function readRegular(path: string | Buffer): Promise<Buffer> {
  if (statSync(path).size <= short) return readRegularSync(path)
  const file = await openRegular(path)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}

/** The same, synchronously. */
export function readRegularSync(path: string | Buffer): Buffer {
  return withRegular(path, (file) => readFileSync(file))
}

/** Opens a regular file as `openRegular` does, and gives it to `read`. */
export function withRegular<T>(path: string | Buffer, read: (file: number, stats: Stats) => T): T {
  refuseSpecial(path, statSync(path))
  const file = openSync(path, noWait)
  try {
    const stats = fstatSync(file)
    refuseSpecial(path, stats)
    return read(file, stats)
  } finally {
    closeSync(file)
  }
}

/** The same of a file that was seen to be one just now: it is looked at once less, which counts where hundreds are read. */
export function readSeenSync(path: string | Buffer): Buffer {
  const file = openSync(path, noWait)
  try {
    const stats = fstatSync(file)
    refuseSpecial(path, stats)
    const content = Buffer.allocUnsafe(stats.size)
    let length = 0
    for (let read = -1; read !== 0 && length < stats.size; length += read) {
      read = readSync(file, content, length, stats.size - length, null)
    }
    return content.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

function refuseSpecial(path: string | Buffer, stats: Stats): void {
  if (!stats.isFile()) throw new NotRegularFile(path, specialKind(stats) ?? 'a folder')
}

/**
 * The content of a regular file that Waymark wrote, up to a size. Null if there is none; does not follow links or wait for
 * pipes.
 */
export function readOwn(path: string, maxBytes: number): Buffer | null {
  let file = -1
  try {
    file = openSync(path, noWait | O_NOFOLLOW)
    const stats = fstatSync(file)
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(file) : null
  } catch {
    return null
  } finally {
    if (file >= 0) closeSync(file)
  }
}
