import { CarefulDisk, rawBlobId } from './disk.ts'
import type { PathBytes } from './path-bytes.ts'
import type { IgnoredFile } from './state.ts'

export interface Ignored {
  readonly files: Map<PathBytes, IgnoredFile>
  /** Opaque: what is in them is not looked at. */
  readonly folders: readonly PathBytes[]
}

const hashedFiles = 200
const largestHashed = 1024 * 1024
const lookedAt = 5_000

/** Ignored single files such as `.env`, by content where they are few and small. Nothing is copied. */
export function readIgnored(top: string, objectFormat: string, ignored: readonly PathBytes[]): Ignored {
  const disk = new CarefulDisk(top)
  const files = new Map<PathBytes, IgnoredFile>()
  const folders = ignored.filter((path) => path.endsWith('/'))
  let hashed = 0
  for (const path of ignored) {
    if (path.endsWith('/') || files.size >= lookedAt) continue
    const file = disk.file(path)
    if (file === null) continue
    const close = hashed < hashedFiles && file.stat.size <= largestHashed
    if (close) hashed += 1
    files.set(path, {
      mode: file.mode,
      oid: close ? rawBlobId(objectFormat, top, path) : null,
      stat: file.stat,
    })
  }
  return { files, folders }
}
