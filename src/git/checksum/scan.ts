import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs'
import { readRegularSync } from '../../files/regular-file.ts'
import { displayPath, onDisk, type PathBytes } from '../path-bytes.ts'
import { ContentStore } from './contents.ts'
import { type Entry, entryStat } from './entry.ts'
import { type IgnoreRules, isIgnored, rulesHash, rulesWithin, topRules } from './ignore-rules.ts'
import { type Manifest, readManifest, writeManifest } from './manifest.ts'
import { Measure } from './measure.ts'
import { holdsWaymarksFiles, isSkipped } from './skipped-folders.ts'

export interface ScanRequest {
  /** Absolute path of the folder to scan. */
  readonly top: string
  /** Absolute path of the private directory to write. */
  readonly directory: string
  /** The private directory of an earlier scan of the same folder, to read only what changed since. */
  readonly reuse?: string
}

export interface Scan {
  /** The hash of the state that was found. */
  readonly id: string
  readonly manifest: Manifest
}

/** Records the state of a folder: everything in it, except what version control, ignore rules and Waymark leave out. */
export function scan(request: ScanRequest): Scan {
  const scannedAt = Date.now()
  const earlier = request.reuse === undefined ? null : readManifest(request.reuse)
  const kept = earlier === null ? null : { directory: request.reuse ?? '', index: earlier.contents }
  const contents = new ContentStore(request.directory, kept)
  const walk = new Walk(request.top, earlier, new Measure(request.top, earlier, contents))
  walk.folder('', topRules(earlier !== null))
  const { entries, ignoredFolders, rules, notes } = walk
  const manifest = { scannedAt, entries, ignoredFolders, rules, contents: contents.close(), notes }
  return { id: writeManifest(request.directory, manifest), manifest }
}

class Walk {
  readonly entries: Entry[] = []
  readonly ignoredFolders: PathBytes[] = []
  readonly rules: Record<PathBytes, string> = {}
  readonly notes: string[] = []
  readonly #top: string
  readonly #earlier: Manifest | null
  readonly #measure: Measure

  constructor(top: string, earlier: Manifest | null, measure: Measure) {
    this.#top = top
    this.#earlier = earlier
    this.#measure = measure
  }

  folder(folder: PathBytes, above: IgnoreRules): void {
    const found = this.#list(folder)
    if (found === null) return
    if (folder !== '' && this.#isLinkedWorkTree(folder, found)) {
      this.notes.push(`The linked work tree ${displayPath(folder)} was not looked into.`)
      return
    }
    const rules = this.#rulesOf(folder, above, found)
    for (const item of found) {
      const path = `${folder}${item.name}`
      if (item.isDirectory()) this.#subfolder(`${path}/`, item.name, rules)
      else if (item.name !== '.git' && !holdsWaymarksFiles(folder)) this.#file(path, rules)
    }
  }

  #list(folder: PathBytes): Dirent[] | null {
    try {
      const found = readdirSync(onDisk(this.#top, folder), { encoding: 'latin1', withFileTypes: true })
      return found.sort((a, b) => (a.name < b.name ? -1 : 1))
    } catch (error) {
      if (folder === '') throw error
      this.#unreadable(folder.slice(0, -1), error)
      return null
    }
  }

  #subfolder(path: PathBytes, name: string, rules: IgnoreRules): void {
    if (isSkipped(path, name)) return
    if (isIgnored(rules, path)) this.ignoredFolders.push(path)
    else this.folder(path, rules)
  }

  #file(path: PathBytes, rules: IgnoreRules): void {
    const stats = this.#stats(path)
    if (stats === null) return
    const earlier = this.#measure.earlier(path)
    const wasListed = rules.unchanged && earlier !== undefined && earlier.ignored === undefined
    const entry =
      !wasListed && isIgnored(rules, path)
        ? this.#measure.ignored(path, stats, earlier)
        : this.#measure.listed(path, stats, earlier)
    if (entry !== null) this.entries.push(entry)
  }

  #stats(path: PathBytes): Stats | null {
    try {
      return lstatSync(onDisk(this.#top, path), { throwIfNoEntry: false }) ?? null
    } catch (error) {
      this.#unreadable(path, error)
      return null
    }
  }

  #unreadable(path: PathBytes, error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    // Gone since its folder was listed.
    if (code === 'ENOENT' || code === 'ENOTDIR') return
    const problem = `It could not be looked at (${code}).`
    this.entries.push({ path, mode: 'unreadable', hash: null, ...NO_STAT, problem })
  }

  #rulesOf(folder: PathBytes, above: IgnoreRules, found: readonly Dirent[]): IgnoreRules {
    // Only a regular file: git does not follow a linked one either.
    const text = found.some((item) => item.name === '.gitignore' && item.isFile())
      ? this.#text(`${folder}.gitignore`)
      : null
    if (text !== null) this.rules[folder] = rulesHash(text)
    return rulesWithin(above, folder, { text, earlier: this.#earlier?.rules[folder] })
  }

  #isLinkedWorkTree(folder: PathBytes, found: readonly Dirent[]): boolean {
    if (!found.some((item) => item.name === '.git' && item.isFile())) return false
    return /^gitdir: .*\/worktrees\/[^/]+\s*$/.test(this.#text(`${folder}.git`) ?? '')
  }

  #text(path: PathBytes): string | null {
    try {
      const place = onDisk(this.#top, path)
      if (entryStat(lstatSync(place)).size > 1_000_000) return null
      return readRegularSync(place).toString('latin1')
    } catch {
      return null
    }
  }
}

const NO_STAT = { size: 0, modified: 0, changed: 0, inode: 0 }
