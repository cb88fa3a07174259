import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { readRegularSync, specialKind } from '../kernel/files/regular-file.ts'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'
import { isSecretFile } from '../kernel/secret-files.ts'
import { keptObjectTest, type OverlayCache, readIgnored, reusableDiskState } from './changes-from-head.ts'
import { blobId, blobIdOf, contentAt, type DiskFile, diskFile, isSameStat } from './disk.ts'
import { gitFolderOf, isLinkedTree } from './other-work-trees.ts'
import { PackWriter } from './pack.ts'
import { diskPath, displayPath, type PathBytes } from './paths.ts'
import type { PrivateDirectory } from './private-directory.ts'
import { countStoredBytes } from './private-store.ts'
import { type DiskState, maxKeptFileBytes, type OverlayEntry } from './recorded-state.ts'

/** Folders that are skipped outside a repository: of version control, and those that package managers can restore. */
const dependencyFolders = [
  ['.hg', '.svn', '.jj', '.bzr', 'CVS', '_darcs', '.pijul', '.sl'],
  ['node_modules', 'bower_components', 'jspm_packages', '.pnpm-store', 'elm-stuff', 'Pods'],
  ['.venv', 'venv', 'site-packages', '__pycache__', '.tox', '.nox', '.eggs'],
  ['.gradle', '.terraform', '.dart_tool'],
].flat()

/** The content of a folder, described as a repository without a commit. */
interface FolderScan {
  readonly overlay: ReadonlyMap<PathBytes, OverlayEntry>
  readonly ignored: ReturnType<typeof readIgnored>
  /** Folders that could not be listed, ending with `/`. */
  readonly unreadable: readonly PathBytes[]
  /** Linked work trees of the repository there, ending with `/`: never read. */
  readonly linked: readonly PathBytes[]
}

// Only the processes of a Waymark folder are compared, also in another project.
const waymarksOwn = /(?:^|\/)\.waymark\/(?!$|processes\/)/

const format = 'sha256'
const megabyte = 1024 * 1024

// Over these limits, contents are not kept, then not read: size and times stand for them.
const kept = { file: maxKeptFileBytes, files: 20_000, bytes: 64 * megabyte }
const read = { files: 200_000, bytes: 4_000 * megabyte }

// About ten milliseconds: a server goes on answering meanwhile.
const perTurn = 200

/** Reads every file in a folder without git, also files that git would skip. */
export async function scanFolder(
  place: PrivateDirectory,
  includes: (path: PathBytes) => boolean,
  cache: OverlayCache,
): Promise<FolderScan> {
  const { top } = place
  const overlay = new Map<PathBytes, OverlayEntry>()
  const ignored: PathBytes[] = []
  const unreadable: PathBytes[] = []
  const linked: PathBytes[] = []
  const reader = new FolderReader(place, cache)
  const waiting: { readonly path: PathBytes; readonly above: IgnoreRules | null }[] = [
    { path: '', above: null },
  ]
  let entriesRead = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path: folder, above } = next
    const entries = entriesOf(top, folder)
    if (entries === null) {
      unreadable.push(folder)
      continue
    }
    if (folder !== '' && (await isLinkedWorkTree(top, folder, entries))) {
      linked.push(folder)
      continue
    }
    const rules = entries.some(({ name }) => name === '.gitignore') ? rulesOf(top, folder, above) : above
    for (const entry of entries) {
      entriesRead += 1
      if (entriesRead % perTurn === 0) await yieldToEventLoop()
      const path = `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`
      if (entry.name === '.git' || waymarksOwn.test(path)) continue
      if (entry.name !== '.waymark' && !includes(path)) continue
      if (isIgnored(rules, path) || (entry.isDirectory() && dependencyFolders.includes(entry.name))) {
        ignored.push(path)
      } else if (entry.isDirectory()) waiting.push({ path, above: rules })
      else {
        const entry = await reader.read(path)
        if (entry !== null) overlay.set(path, entry)
      }
    }
  }
  await reader.close()
  return { overlay, ignored: readIgnored(top, format, ignored), unreadable, linked }
}

function entriesOf(top: string, folder: PathBytes) {
  try {
    return readdirSync(diskPath(top, folder), { encoding: 'latin1', withFileTypes: true })
  } catch (error) {
    if (folder === '') throw error
    return null
  }
}

/** Reads the states of files within limits, and keeps the contents of small ones. */
class FolderReader {
  readonly #top: string
  readonly #cache: OverlayCache
  readonly #pack: PackWriter | null
  readonly #read = { files: 0, bytes: 0 }
  readonly #kept = { files: 0, bytes: 0 }

  constructor({ top, contents }: PrivateDirectory, cache: OverlayCache) {
    this.#top = top
    this.#cache = cache
    const mayKeep = contents !== undefined && countStoredBytes(contents) < (cache.budget ?? 0)
    this.#pack = mayKeep ? new PackWriter(contents, format, keptObjectTest(cache)) : null
  }

  async read(path: PathBytes): Promise<OverlayEntry | null> {
    const file = diskFile(this.#top, path)
    if (file === null) return specialFile(this.#top, path)
    const base = { head: null, tracked: false, staged: false }
    const disk = reusableDiskState(file, path, this.#cache)
    if (disk !== null) return { ...base, disk }
    const { mode, stat } = file
    const oid = addWithinLimit(this.#read, stat.size, read) ? await this.#oid(path, file) : null
    const now = diskFile(this.#top, path)
    if (now === null) return null
    if (oid === null) return { ...base, disk: { mode, oid, stat }, uncertain: unread }
    const uncertain = isSameStat(now.stat, stat) ? {} : { uncertain: 'It changed while it was read.' }
    return { ...base, disk: { mode, stat: now.stat, ...oid }, ...uncertain }
  }

  async #oid(path: PathBytes, file: DiskFile): Promise<Pick<DiskState, 'oid' | 'unkept'> | null> {
    const { size } = file.stat
    const isOpen = this.#pack !== null && !isSecretFile(displayPath(path))
    if (isOpen && this.#pack !== null && size <= kept.file && addWithinLimit(this.#kept, size, kept)) {
      const content = contentAt(this.#top, path, file)
      return content === null ? null : { oid: await this.#pack.add({ type: 'blob', content }) }
    }
    const oid = await blobIdOf(format, this.#top, path)
    return oid === null ? null : { oid, unkept: true }
  }

  async close(): Promise<void> {
    await this.#pack?.close()
  }
}

const unread = 'Its content was not read: only its size and times are known.'

function addWithinLimit(
  sum: { files: number; bytes: number },
  size: number,
  most: { readonly files: number; readonly bytes: number },
): boolean {
  sum.files += 1
  sum.bytes += size
  return sum.files <= most.files && sum.bytes <= most.bytes
}

/** A pipe, a socket or a device: only its existence is recorded. */
function specialFile(top: string, path: PathBytes): OverlayEntry | null {
  const stats = lstatSync(diskPath(top, path), { throwIfNoEntry: false })
  const kind = stats === undefined ? null : specialKind(stats)
  if (kind === null) return null
  const disk = { mode: kind, oid: blobId(format, Buffer.alloc(0)), unkept: true } as const
  return { head: null, tracked: false, staged: false, disk }
}

/** The ignore files that apply in a folder: its own, and those of the folders above it. */
interface IgnoreRules {
  readonly folder: PathBytes
  readonly own: Ignore
  readonly above: IgnoreRules | null
}

const ignoresCase = process.platform === 'win32' || process.platform === 'darwin'

function rulesOf(top: string, folder: PathBytes, above: IgnoreRules | null): IgnoreRules | null {
  const text = textAt(top, `${folder}.gitignore`)
  if (text === null) return above
  return { folder, own: ignore({ ignorecase: ignoresCase, allowRelativePaths: true }).add(text), above }
}

/** The nearest ignore file with a rule for a path decides. */
function isIgnored(rules: IgnoreRules | null, path: PathBytes): boolean {
  for (let at = rules; at !== null; at = at.above) {
    const answer = at.own.test(path.slice(at.folder.length))
    if (answer.ignored) return true
    if (answer.unignored) return false
  }
  return false
}

/** Whether the repository lists the folder as a work tree, instead of it only looking like one. */
async function isLinkedWorkTree(
  top: string,
  folder: PathBytes,
  entries: NonNullable<ReturnType<typeof entriesOf>>,
): Promise<boolean> {
  if (!entries.some((entry) => entry.name === '.git' && entry.isFile())) return false
  const tree = join(top, displayPath(folder))
  const [gitFolder, commonFolder] = await Promise.all([gitFolderOf(tree), gitFolderOf(top)])
  return gitFolder !== null && commonFolder !== null && isLinkedTree({ top: tree, gitFolder, commonFolder })
}

// Only a regular file: git does not follow a link here either.
function textAt(top: string, path: PathBytes): string | null {
  try {
    const file = diskPath(top, path)
    const stats = lstatSync(file)
    return stats.isFile() && stats.size <= 1_000_000 ? readRegularSync(file).toString('latin1') : null
  } catch {
    return null
  }
}
