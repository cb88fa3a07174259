import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { PathBytes } from '../path-bytes.ts'
import type { ContentIndex, ContentPlace } from './contents.ts'
import type { Entry } from './entry.ts'
import { type PackedEntries, packEntries, stateColumns, unpackEntries } from './packed-entries.ts'

/** Everything a checksum snapshot knows. A file of the private directory, so that any process can compare it later. */
export interface Manifest {
  /** When the scan began, milliseconds. */
  readonly scannedAt: number
  readonly entries: readonly Entry[]
  /** Folders that ignore rules leave out, ending with `/`. Never opened. */
  readonly ignoredFolders: readonly PathBytes[]
  /** Hash of each ignore file, by its folder. */
  readonly rules: Readonly<Record<PathBytes, string>>
  readonly contents: ContentIndex
  readonly notes: readonly string[]
}

const NAME = 'manifest'
const FORMAT = 'waymark checksum manifest 1'

/**
 * Writes the manifest, all at once: a process that dies leaves none or a whole one.
 * Answers its hash: two scans that found the same state have the same.
 */
export function writeManifest(directory: string, manifest: Manifest): string {
  const { entries, contents, ...rest } = manifest
  const { columns, ...packed } = packEntries(entries)
  const head = Buffer.from(JSON.stringify({ ...rest, ...packed, contents: [...contents] }))
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, NAME)
  writeFileSync(`${path}.new`, Buffer.concat([firstLine(head, columns), head, columns]), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return hash('sha256', stateColumns(packed.length, columns), 'hex')
}

/** Null when it is lost, damaged or of another format. */
export function readManifest(directory: string): Manifest | null {
  try {
    const file = readFileSync(join(directory, NAME))
    const headAt = file.indexOf('\n') + 1
    const columnsAt = headAt + Number(file.toString('latin1', 0, headAt).split(' ').at(-1))
    const head = file.subarray(headAt, columnsAt)
    const columns = file.subarray(columnsAt)
    if (!file.subarray(0, headAt).equals(firstLine(head, columns))) return null
    // The first line says that this is what writeManifest wrote.
    const { length, problems, contents, ...rest } = JSON.parse(head.toString('utf8')) as StoredHead
    return { ...rest, entries: unpackEntries({ length, problems, columns }), contents: new Map(contents) }
  } catch {
    return null
  }
}

type StoredHead = Omit<Manifest, 'entries' | 'contents'> &
  Omit<PackedEntries, 'columns'> & { readonly contents: readonly (readonly [string, ContentPlace])[] }

// Format, checksum and the head's length: a file that was cut short or altered does not fit it.
function firstLine(head: Buffer, columns: Buffer): Buffer {
  return Buffer.from(`${FORMAT} ${crc32(columns, crc32(head))} ${head.length}\n`)
}
