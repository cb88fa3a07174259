import type { BigIntStats } from 'node:fs'

/** Changes whenever a file is written, replaced or renamed over: no program can set the last time back. */
export function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`
}
