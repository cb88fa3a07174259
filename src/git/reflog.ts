import type { FileHandle } from 'node:fs/promises'
import { openRegular } from '../files/regular-file.ts'
import type { ReflogPosition } from './state.ts'

export interface ReflogEntry {
  readonly from: string
  readonly to: string
  /** commit, merge, pull, checkout, rebase, reset, cherry-pick, revert, am … */
  readonly verb: string
  /** The bracketed part: `amend`, `initial`, `merge`, `start`, `pick`, `continue`, `finish`. */
  readonly detail: string
  readonly message: string
  /** Milliseconds since the epoch, to the second. */
  readonly at: number
}

const remembered = 256

/** Where HEAD's reflog ends now. Null when there is none. */
export async function reflogPosition(path: string): Promise<ReflogPosition | null> {
  return reading(path, async (file) => {
    const { size } = await file.stat()
    return { size, tail: await slice(file, Math.max(0, size - remembered), size) }
  })
}

/** What was appended between two positions. Null when that cannot be told: no log, or it was rewritten. */
export async function reflogBetween(
  path: string,
  from: ReflogPosition | null,
  to: ReflogPosition | null,
): Promise<ReflogEntry[] | null> {
  if (to === null) return null
  const start = from ?? { size: 0, tail: '' }
  if (to.size < start.size) return null
  return reading(path, async (file) => {
    const before = await slice(file, start.size - start.tail.length, start.size)
    if (before !== start.tail) return null
    return parseReflog(await slice(file, start.size, to.size))
  })
}

/** Parses lines of `logs/HEAD`: `<old> <new> <who> <seconds> <zone><tab><message>`. */
export function parseReflog(text: string): ReflogEntry[] {
  return text.split('\n').flatMap((line) => {
    const tab = line.indexOf('\t')
    const [from, to] = line.split(' ', 2)
    if (tab < 0 || from === undefined || to === undefined) return []
    const message = Buffer.from(line.slice(tab + 1), 'latin1').toString('utf8')
    const seconds = /(\d+) [+-]\d{4}$/.exec(line.slice(0, tab))?.[1]
    return [{ from, to, ...parseAction(message), message, at: Number(seconds ?? 0) * 1000 }]
  })
}

// `commit (amend): text`, `pull --rebase origin main (pick): text`, `merge topic: Fast-forward`, `am: text`.
function parseAction(message: string): { verb: string; detail: string } {
  const action = /^([^:]*?)(?: \(([a-z -]+)\))?(?::|$)/.exec(message)
  const words = (action?.[1] ?? '').split(' ')
  return { verb: words[0] ?? '', detail: action?.[2] ?? '' }
}

async function reading<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T | null> {
  let file: FileHandle
  try {
    file = await openRegular(path)
  } catch {
    return null
  }
  try {
    return await read(file)
  } finally {
    await file.close()
  }
}

async function slice(file: FileHandle, from: number, to: number): Promise<string> {
  const buffer = Buffer.alloc(Math.max(0, to - from))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
  return buffer.subarray(0, bytesRead).toString('latin1')
}
