import { createHash, hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { type EntryStat, entryStat, sameStat } from './entry.ts'

export interface ReadFile {
  readonly hash: string
  /** The whole content, when it was small enough to hold. */
  readonly content: Buffer | null
  readonly problem?: string
}

const WHOLE = 5_000_000
const CHUNK = 1 << 20

// A file may have become a pipe or a link since it was listed: never wait for a writer, never follow.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Reads a regular file. Throws what `node:fs` throws, and when it is no regular file any more. */
export function readRegularFile(path: string | Buffer, expected: EntryStat): ReadFile {
  const file = openSync(path, FLAGS)
  try {
    const before = fstatSync(file)
    if (!before.isFile()) throw new Error('It is no regular file any more.')
    const read = before.size <= WHOLE ? readWhole(file, before.size) : readInChunks(file)
    const steady = sameStat(expected, entryStat(fstatSync(file)))
    return steady ? read : { ...read, problem: 'It changed while it was being read.' }
  } finally {
    closeSync(file)
  }
}

/** Reads where a symbolic link points to. */
export function readLink(path: string | Buffer): ReadFile {
  const content = readlinkSync(path, { encoding: 'buffer' })
  return { hash: hash('sha256', content, 'hex'), content }
}

function readWhole(file: number, size: number): ReadFile {
  const content = Buffer.allocUnsafe(size)
  let length = 0
  while (length < size) {
    const read = readSync(file, content, length, size - length, null)
    if (read === 0) break
    length += read
  }
  const whole = content.subarray(0, length)
  return { hash: hash('sha256', whole, 'hex'), content: whole }
}

function readInChunks(file: number): ReadFile {
  const digest = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK)
  for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk))
    digest.update(chunk.subarray(0, read))
  return { hash: digest.digest('hex'), content: null }
}
