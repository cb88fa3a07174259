import { createHash } from 'node:crypto'
import type { Entry } from './entry.ts'

/** The hash of what is in the files that no ignore rule leaves out. What was not read counts by its size and times. */
export function listedHash(entries: readonly Entry[]): string {
  const hash = createHash('sha256')
  for (const { path, mode, hash: content, size, modified, changed, ignored } of entries) {
    if (ignored) continue
    hash.update(`${mode} ${content ?? `${size} ${modified} ${changed}`} ${path}\0`, 'latin1')
  }
  return hash.digest('hex')
}
