import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PathBytes } from '../path-bytes.ts'
import type { ContentIndex } from './contents.ts'
import type { Entry } from './entry.ts'

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

const FORMAT = 1
const NAME = 'manifest'

/** Identifies the state of a tree: two scans of the same content have the same id. */
export function manifestId(manifest: Pick<Manifest, 'entries'>): string {
  const states = manifest.entries.map(
    ({ path, mode, hash: content, size }) => `${mode} ${content ?? size} ${path}`,
  )
  return hash('sha256', states.join('\0'), 'hex')
}

/** Writes the manifest, all at once: a process that dies leaves none or a whole one. */
export function writeManifest(directory: string, manifest: Manifest): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const body = JSON.stringify({ format: FORMAT, ...manifest, entries: manifest.entries.map(toRow) })
  const path = join(directory, NAME)
  writeFileSync(`${path}.new`, `${hash('sha256', body, 'hex')}\n${body}`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** Null when it is lost, damaged or of another format. */
export function readManifest(directory: string): Manifest | null {
  try {
    const text = readFileSync(join(directory, NAME), 'utf8')
    const end = text.indexOf('\n')
    const body = text.slice(end + 1)
    if (hash('sha256', body, 'hex') !== text.slice(0, end)) return null
    // The checksum says that this is what writeManifest wrote.
    const stored = JSON.parse(body) as Stored
    return stored.format === FORMAT ? { ...stored, entries: stored.entries.map(fromRow) } : null
  } catch {
    return null
  }
}

interface Stored extends Omit<Manifest, 'entries'> {
  readonly format: number
  readonly entries: readonly Row[]
}

type Row = readonly [
  ...identity: [PathBytes, Entry['mode'], string | null],
  ...stat: [number, number, number, number],
  ...rest: [ignored?: 0 | 1, problem?: string],
]

function toRow({ path, mode, hash: content, size, modified, changed, inode, ignored, problem }: Entry): Row {
  if (problem !== undefined)
    return [path, mode, content, size, modified, changed, inode, ignored ? 1 : 0, problem]
  if (ignored) return [path, mode, content, size, modified, changed, inode, 1]
  return [path, mode, content, size, modified, changed, inode]
}

function fromRow([path, mode, content, size, modified, changed, inode, ignored, problem]: Row): Entry {
  const entry = { path, mode, hash: content, size, modified, changed, inode }
  if (ignored === undefined) return entry
  return { ...entry, ...(ignored ? { ignored: true } : {}), ...(problem === undefined ? {} : { problem }) }
}
