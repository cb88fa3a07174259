import { createHash, hash } from 'node:crypto'
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs'
import ignore, { type Ignore } from 'ignore'
import { errorCode, messageOf } from '../../domain/failure.ts'
import { readRegularSync } from '../../files/regular-file.ts'
import { displayPath, onDisk, type PathBytes } from '../paths.ts'
import {
  ContentStore,
  type Entry,
  type EntryMode,
  type EntryStat,
  entryMode,
  entryStat,
  hasContent,
  type Manifest,
  readManifest,
  sameStat,
  writeManifest,
} from './manifest.ts'

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
    const code = errorCode(error) ?? String(error)
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

const MOST_FILES = 200_000
const MOST_BYTES = 4_000_000_000
const MOST_IGNORED = 2_000
const MOST_IGNORED_READ = 200
const MOST_IGNORED_BYTES = 1_000_000

// A clock may tick in steps of up to two seconds: a younger file may have changed again within the same tick.
const SETTLED = 2_000

/** Takes the state of single files, within limits, and reads only what changed since the earlier scan. */
class Measure {
  readonly #top: string
  readonly #contents: ContentStore
  readonly #earlier: readonly Entry[]
  readonly #settledBefore: number
  #positions: ReadonlyMap<PathBytes, number> | undefined
  #next = 0
  #files = 0
  #bytes = 0
  #ignored = 0

  constructor(top: string, earlier: Manifest | null, contents: ContentStore) {
    this.#top = top
    this.#contents = contents
    this.#earlier = earlier?.entries ?? []
    this.#settledBefore = (earlier?.scannedAt ?? 0) - SETTLED
  }

  /** What the earlier scan had at a path. */
  earlier(path: PathBytes): Entry | undefined {
    // Both scans go through the folders in the same order, so that the next one is nearly always the one.
    const next = this.#earlier[this.#next]
    if (next?.path === path) {
      this.#next += 1
      return next
    }
    this.#positions ??= new Map(this.#earlier.map((entry, at) => [entry.path, at]))
    const at = this.#positions.get(path)
    if (at === undefined) return undefined
    this.#next = at + 1
    return this.#earlier[at]
  }

  /** Null for a file that is gone again. */
  listed(path: PathBytes, stats: Stats, earlier: Entry | undefined): Entry | null {
    const mode = entryMode(stats)
    const stat = entryStat(stats)
    if (!hasContent(mode)) return { path, mode, hash: null, ...stat }
    const known = this.#known(stat, earlier)
    if (known !== null) return known
    return this.#mayRead(stat.size) ? this.#read(path, mode, stat) : { path, mode, hash: null, ...stat }
  }

  /** The same for an ignored file, of which only small and few ones are read. Null beyond that, too. */
  ignored(path: PathBytes, stats: Stats, earlier: Entry | undefined): Entry | null {
    this.#ignored += 1
    if (this.#ignored > MOST_IGNORED) return null
    const entry =
      stats.size > MOST_IGNORED_BYTES || this.#ignored > MOST_IGNORED_READ
        ? { path, mode: entryMode(stats), hash: null, ...entryStat(stats) }
        : this.listed(path, stats, earlier)
    return entry === null ? null : { ...entry, ignored: true }
  }

  #read(path: PathBytes, mode: EntryMode, stat: EntryStat): Entry | null {
    try {
      const place = onDisk(this.#top, path)
      const { hash, content, problem } = mode === '120000' ? readLink(place) : readRegularFile(place, stat)
      if (content !== null) this.#contents.add(hash, content)
      return { path, mode, hash, ...stat, ...(problem === undefined ? {} : { problem }) }
    } catch (error) {
      return isGone(error) ? null : { path, mode, hash: null, ...stat, problem: sentenceOf(error) }
    }
  }

  // The mode needs no comparison: changing it changes `changed`.
  #known(stat: EntryStat, entry: Entry | undefined): Entry | null {
    if (entry === undefined || entry.hash === null || entry.problem !== undefined) return null
    if (Math.max(stat.modified, stat.changed) >= this.#settledBefore || !sameStat(entry, stat)) return null
    this.#contents.carry(entry.hash)
    return entry.ignored ? { path: entry.path, mode: entry.mode, hash: entry.hash, ...stat } : entry
  }

  #mayRead(size: number): boolean {
    this.#files += 1
    this.#bytes += size
    return this.#files <= MOST_FILES && this.#bytes <= MOST_BYTES
  }
}

function isGone(error: unknown): boolean {
  return errorCode(error) === 'ENOENT'
}

function sentenceOf(error: unknown): string {
  const code = errorCode(error)
  return code === null ? messageOf(error) : `It could not be read (${code}).`
}

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
function readRegularFile(path: string | Buffer, expected: EntryStat): ReadFile {
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
function readLink(path: string | Buffer): ReadFile {
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

/** The ignore files that hold in a folder: its own, and those of the folders above it. */
export interface IgnoreRules {
  /** The folder of the nearest one, ending with `/`, or `''`. */
  readonly base: PathBytes
  readonly own: Ignore | null
  readonly above: IgnoreRules | null
  /** All of them are as they were at the earlier scan, so that what was listed then is listed now. */
  readonly unchanged: boolean
}

function topRules(unchanged: boolean): IgnoreRules {
  return { base: '', own: null, above: null, unchanged }
}

/** The rules inside a folder. `text` is its ignore file, if it has one. */
function rulesWithin(
  above: IgnoreRules,
  base: PathBytes,
  file: { readonly text: string | null; readonly earlier: string | undefined },
): IgnoreRules {
  const { text, earlier } = file
  const unchanged = above.unchanged && earlier === (text === null ? undefined : rulesHash(text))
  if (text === null) return unchanged === above.unchanged ? above : { ...above, unchanged }
  const own = ignore({ ignorecase: isCaseBlind, allowRelativePaths: true }).add(text)
  return { base, own, above, unchanged }
}

function rulesHash(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Whether a path (folders end with `/`) is left out. The nearest ignore file that speaks of it decides. */
function isIgnored(rules: IgnoreRules, path: PathBytes): boolean {
  for (let level: IgnoreRules | null = rules; level !== null; level = level.above) {
    if (level.own === null) continue
    const answer = level.own.test(path.slice(level.base.length))
    if (answer.ignored) return true
    if (answer.unignored) return false
  }
  return false
}

const isCaseBlind = process.platform === 'win32' || process.platform === 'darwin'

// What version control keeps for itself, and what package managers put there and can put there again.
const NAMES = new Set([
  '.git',
  '.hg',
  '.svn',
  '.jj',
  '.bzr',
  'CVS',
  '_darcs',
  '.pijul',
  '.sl',
  'node_modules',
  'bower_components',
  'jspm_packages',
  '.pnpm-store',
  '.venv',
  'venv',
  'site-packages',
  '__pycache__',
  '.tox',
  '.nox',
  '.eggs',
  '.gradle',
  '.terraform',
  '.dart_tool',
  'elm-stuff',
  'Pods',
])

/** Whether a folder is never looked into, whatever the ignore files say. Its path ends with `/`. */
function isSkipped(path: PathBytes, name: string): boolean {
  return NAMES.has(name) || isWaymarksOwn(path)
}

// Of Waymark's folder only the processes belong to the project.
function isWaymarksOwn(path: PathBytes): boolean {
  const at = path.lastIndexOf('.waymark/')
  if (at < 0 || (at > 0 && path[at - 1] !== '/')) return false
  const below = path.slice(at + '.waymark/'.length)
  return below !== '' && !below.startsWith('processes/')
}

/** Whether the files directly in a folder are Waymark's own. */
function holdsWaymarksFiles(folder: PathBytes): boolean {
  return folder === '.waymark/' || folder.endsWith('/.waymark/')
}
