import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { extname } from 'node:path'
import { stampOf } from './stamp.ts'
import { codeOf, missing, saysMissing } from './system-error.ts'

export interface MeasuredFile {
  readonly bytes: number
  readonly sha256: string
  readonly stamp: string
  readonly content?: unknown
}

const megabyte = 1024 * 1024
const mostBytes = 100 * megabyte
const mostParsed = megabyte

const unsteady = { problem: 'changed while it was read: hand it in again once it is written' }

/**
 * Reads a regular file by its real path, or answers why it is no evidence. Whatever is not a regular file is never
 * opened: a pipe would wait for ever.
 */
export async function measureFile(absolute: string): Promise<MeasuredFile | { readonly problem: string }> {
  try {
    const found = await lstat(absolute, { bigint: true })
    const problem = unfitness(found)
    if (problem !== null) return { problem }
    // The last two are for what may have been put there since: not followed, not waited for.
    const file = await open(absolute, constants.O_RDONLY | noFollow | noWait)
    try {
      const opened = await file.stat({ bigint: true })
      if (stampOf(opened) !== stampOf(found) || !(await isStillAt(absolute, opened))) return unsteady
      return await readWhole(file, absolute)
    } finally {
      await file.close()
    }
  } catch (error) {
    return { problem: unreadable(error) }
  }
}

// Windows has neither.
const noFollow = constants.O_NOFOLLOW ?? 0
const noWait = constants.O_NONBLOCK ?? 0

function unfitness(found: BigIntStats): string | null {
  if (found.isDirectory()) return 'is a folder, not a file'
  if (found.isFIFO()) return 'is a pipe, not a file'
  if (found.isSocket()) return 'is a socket, not a file'
  if (!found.isFile()) return 'is no regular file'
  return found.size > mostBytes
    ? `is too large: ${found.size} bytes, and at most ${mostBytes} are read`
    : null
}

// A folder on the way could have become a link between resolving the path and opening the file.
async function isStillAt(absolute: string, opened: BigIntStats): Promise<boolean> {
  const now = await lstat(absolute, { bigint: true })
  return now.ino === opened.ino && now.dev === opened.dev && (await realpath(absolute)) === absolute
}

async function readWhole(file: FileHandle, absolute: string): Promise<MeasuredFile | typeof unsteady> {
  const before = await file.stat({ bigint: true })
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(Math.min(Number(before.size) + 1, megabyte))
  const small: Buffer[] = []
  let bytes = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, bytes)
    if (bytesRead === 0) break
    const part = buffer.subarray(0, bytesRead)
    hash.update(part)
    bytes += bytesRead
    if (bytes > before.size) return unsteady
    if (before.size <= mostParsed) small.push(Buffer.from(part))
  }
  const stamp = stampOf(await file.stat({ bigint: true }))
  if (stamp !== stampOf(before) || BigInt(bytes) !== before.size) return unsteady
  const measured = { bytes, sha256: hash.digest('hex'), stamp }
  const content = bytes > mostParsed ? undefined : parsed(Buffer.concat(small).toString('utf8'), absolute)
  return content === undefined ? measured : { ...measured, content }
}

function parsed(text: string, absolute: string): unknown {
  const plain = text.replace(/^\uFEFF/, '')
  if (extname(absolute).toLowerCase() !== '.json' && !/^\s*[[{]/.test(plain)) return undefined
  try {
    return JSON.parse(plain)
  } catch {
    return undefined
  }
}

function unreadable(error: unknown): string {
  const code = codeOf(error)
  if (saysMissing(code)) return missing
  if (code === 'ELOOP') return unsteady.problem
  return code === 'EACCES' || code === 'EPERM' ? 'may not be read' : `cannot be read (${code})`
}
