import { readContent } from './contents.ts'
import type { Entry } from './entry.ts'
import { type Manifest, readManifest } from './manifest.ts'

/** A scan as it is kept: its manifest, and where its contents are. */
export interface StoredScan {
  readonly directory: string
  readonly manifest: Manifest
}

/** Null when the manifest is lost or damaged. */
export function storedScan(directory: string): StoredScan | null {
  const manifest = readManifest(directory)
  return manifest === null ? null : { directory, manifest }
}

/** The text of a path's content; empty for a path that is not there. Null when it is not kept: binary, large or gone. */
export function textOf({ directory, manifest }: StoredScan, entry: Entry | null): string | null {
  if (entry === null) return ''
  if (entry.hash === null) return null
  const place = manifest.contents.get(entry.hash)
  return place === undefined ? null : (readContent(directory, place)?.toString('utf8') ?? null)
}
