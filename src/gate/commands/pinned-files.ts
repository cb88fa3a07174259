import { createHash } from 'node:crypto'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import {
  containedPath,
  entryAt,
  openContainedFile,
  problemWith,
  type RefusalReason,
} from '../../kernel/files/contained-file.ts'
import { type PathPatterns, pathPatterns, patternProblem } from '../../kernel/path-pattern.ts'
import { isSecretFile } from '../../kernel/secret-files.ts'
import { excerpt } from '../../kernel/text.ts'

/** A path with the SHA-256 of its content: null if it does not exist, a word if it is not read. */
export type PinnedHash = readonly [path: string, content: string | null]

export interface PinnedLimits {
  readonly files: number
  readonly bytes: number
}

const usualLimits: PinnedLimits = { files: 10_000, bytes: 512 * 1024 * 1024 }
const maxEntries = 100_000

/** The content of the files of a project's folder that path patterns name, in one order. */
export async function pinnedFiles(
  folder: string,
  texts: readonly string[],
  signal: AbortSignal,
  limits = usualLimits,
): Promise<PinnedHash[]> {
  if (texts.length === 0) return []
  for (const text of texts) {
    const problem = patternProblem(text)
    if (problem !== null) throw pinnedPathRefusal(text, problem)
  }
  const reader = new PinnedReader(folder, pathPatterns(texts), signal, limits)
  const patterns = texts.map((text) => text.trim()).filter((text) => !text.startsWith('!'))
  for (const text of patterns.length === 0 ? ['.'] : patterns) await reader.read(text)
  return reader.sortedHashes()
}

/** Hashes files inside one folder, within limits, until it is stopped. */
class PinnedReader {
  readonly #folder: string
  readonly #patterns: PathPatterns
  readonly #signal: AbortSignal
  readonly #limits: PinnedLimits
  readonly #pinned = new Map<string, string | null>()
  #bytes = 0
  #entriesRead = 0

  constructor(folder: string, patterns: PathPatterns, signal: AbortSignal, limits: PinnedLimits) {
    this.#folder = folder
    this.#patterns = patterns
    this.#signal = signal
    this.#limits = limits
  }

  sortedHashes(): PinnedHash[] {
    return [...this.#pinned].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  async read(pattern: string): Promise<void> {
    const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.')
    const glob = segments.findIndex((segment) => /[*?[\]{}]/.test(segment))
    const path = (glob === -1 ? segments : segments.slice(0, glob)).join('/') || '.'
    const place = containedPath(this.#folder, path, onlyHashed)
    if ('reason' in place && leavesProject.has(place.reason))
      throw pinnedPathRefusal(pattern, problemWith(place))
    // A named file that does not exist is listed as such; a glob lists existing files.
    if (glob === -1) await this.#contents(path, () => true)
    else if (!('reason' in place) && entryAt(place.absolute)?.isDirectory())
      await this.#entries(path, place.absolute, folderMatcher(segments))
  }

  async #contents(path: string, leads: (folder: string) => boolean): Promise<void> {
    this.#signal.throwIfAborted()
    const isPinned = path === '.' || this.#patterns.matches(path)
    if (isPinned && !this.#pinned.has(path) && this.#pinned.size >= this.#limits.files) {
      throw pinnedPathRefusal(path, `is one of more than ${this.#limits.files} pinned files`)
    }
    const place = containedPath(this.#folder, path, { secrets: 'allowed' })
    if ('reason' in place) {
      if (isPinned) this.#pinned.set(path, await this.#hashOfRefused(path, place.reason))
      return
    }
    const found = entryAt(place.absolute)
    if (found?.isDirectory()) {
      if (isPinned) this.#pinned.set(path, 'folder')
      if (leads(path)) await this.#entries(path, place.absolute, leads)
    } else if (isPinned && !this.#pinned.has(path)) {
      if (found === undefined) this.#pinned.set(path, null)
      else if (isSecretFile(path) || isSecretFile(place.path)) this.#pinned.set(path, 'secret file')
      else this.#pinned.set(path, found.isFile() ? await this.#sha256(path) : 'special')
    }
  }

  async #entries(path: string, absolute: string, leads: (folder: string) => boolean): Promise<void> {
    for (const entry of await readdir(absolute, { withFileTypes: true })) {
      const name = path === '.' ? entry.name : `${path}/${entry.name}`
      this.#entriesRead += 1
      if (this.#entriesRead > maxEntries) {
        throw pinnedPathRefusal(path, `holds more than ${maxEntries} files: name a smaller folder`)
      }
      // A linked folder could lead back to its parent. Git's own files change without an edit.
      const isFolder = entry.isSymbolicLink() && this.#isLinkedFolder(name)
      if (isFolder) {
        if (this.#patterns.matches(name)) this.#pinned.set(name, 'linked folder')
      } else if (entry.name !== '.git') await this.#contents(name, leads)
    }
  }

  #isLinkedFolder(path: string): boolean {
    const place = containedPath(this.#folder, path, { secrets: 'allowed' })
    return !('reason' in place) && entryAt(place.absolute)?.isDirectory() === true
  }

  /** Nothing outside is read: for a link that leads there, only its target text counts. */
  async #hashOfRefused(path: string, reason: RefusalReason): Promise<string | null> {
    if (reason === 'missing') return null
    const target = await readlink(join(this.#folder, path)).catch(() => null)
    return target === null ? reason : createHash('sha256').update(`link ${target}`).digest('hex')
  }

  async #sha256(path: string): Promise<string> {
    const remaining = this.#limits.bytes - this.#bytes
    const opened = await openContainedFile(this.#folder, path, { maxBytes: remaining })
    if ('reason' in opened) {
      if (opened.reason !== 'too_large') return 'unreadable'
      throw pinnedPathRefusal(path, `makes the pinned files larger than ${this.#limits.bytes} bytes`)
    }
    this.#bytes += opened.size
    const hash = createHash('sha256')
    try {
      // The stream closes the file.
      const stream = opened.file.createReadStream({ signal: this.#signal, end: remaining })
      for await (const chunk of stream) hash.update(chunk)
    } catch {
      this.#signal.throwIfAborted()
      return 'unreadable'
    }
    return hash.digest('hex')
  }
}

/** Whether a file that a glob names may lie below a folder: others, such as installed packages, are not looked through. */
function folderMatcher(segments: readonly string[]): (folder: string) => boolean {
  const stars = segments.findIndex((segment) => segment.includes('**') || /[{}]/.test(segment))
  const fixed = stars === -1 ? segments : segments.slice(0, stars)
  const begins = fixed.map((_, index) => pathPatterns([segments.slice(0, index + 1).join('/')]))
  return (folder) => {
    const names = folder.split('/')
    const depth = Math.min(names.length, begins.length)
    return depth === 0 || begins[depth - 1]?.matches(names.slice(0, depth).join('/')) === true
  }
}

const leavesProject: ReadonlySet<RefusalReason> = new Set(['outside', 'git', 'invalid'])

// Only names and hashes are stored.
const onlyHashed = { secrets: 'allowed', missing: 'allowed' } as const

function pinnedPathRefusal(path: string, problem: string): Failure {
  return new Failure('REFUSED', `"${excerpt(path, 200)}" cannot be pinned: it ${problem}.`, {
    reason: 'pinned_path_invalid',
    hint: "Pin files of the project's folder that say what the command does, such as package.json or scripts/.",
  })
}
