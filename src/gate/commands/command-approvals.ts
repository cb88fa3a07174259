import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, readlink, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import {
  containedPath,
  entryAt,
  openContained,
  problemWith,
  type RefusalReason,
} from '../../kernel/files/contained.ts'
import { excerpt } from '../../kernel/text.ts'
import type { ApprovedCommand, CommandApprovals, RefusedCommand } from '../ports/command-runner.ts'

/** Approvals and refusals as one file per hash in a state folder: none is ever written twice with other content. */
export function commandApprovals(
  stateFolder: string,
  signal: AbortSignal = new AbortController().signal,
): CommandApprovals {
  const approvals = keptIn(join(stateFolder, 'approved-commands'), 'approval')
  const refusals = keptIn(join(stateFolder, 'refused-commands'), 'refusal')
  return {
    hashOf: async (command) => {
      const place = await realpath(command.folder).catch(() => resolve(command.folder))
      const canonical = JSON.stringify([command.run, place, await pinnedFiles(place, command.pinned, signal)])
      return createHash('sha256').update(canonical).digest('hex')
    },
    filesOf: async ({ folder: named, pinned }) => {
      const place = await realpath(named).catch(() => resolve(named))
      return (await pinnedFiles(place, pinned, signal)).map(([path, sha256]) => ({ path, sha256 }))
    },
    isApproved: async (hash) => (await approvals.find(hash)) !== null,
    approve: async (approval) => {
      await approvals.keep(approval)
      await refusals.remove(approval.hash)
    },
    list: approvals.list,
    refuse: async (refusal) => {
      await refusals.keep(refusal)
      await approvals.remove(refusal.hash)
    },
    refusalOf: async (hash) => {
      const found = await refusals.find(hash)
      return found && withReason(found)
    },
    refused: async (folders) => (await refusals.list(folders)).map(withReason),
    revoke: async (hash) => {
      await approvals.remove(hash)
      await refusals.remove(hash)
    },
  }
}

function withReason(kept: ApprovedCommand): RefusedCommand {
  const { reason } = kept as Partial<RefusedCommand> // as `refuse` wrote it
  return { ...kept, reason: typeof reason === 'string' ? reason : '' }
}

function keptIn(folder: string, what: 'approval' | 'refusal') {
  const fileOf = (hash: string) => join(folder, `${hash}.json`)
  return {
    find: async (hash: string): Promise<ApprovedCommand | null> => {
      if (!isHash(hash)) return null
      const found = parsed(await readFile(fileOf(hash), 'utf8').catch(() => ''))
      return found?.hash === hash ? found : null
    },
    keep: async (kept: Stored & Partial<ApprovedCommand>): Promise<void> => {
      if (!isHash(kept.hash)) {
        throw new Failure('INVALID_INPUT', `"${kept.hash}" is not the hash of a command.`, {
          reason: 'command_hash_invalid',
        })
      }
      const draft = join(folder, `${kept.hash}.${randomUUID()}.draft`)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(draft, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
        await rename(draft, fileOf(kept.hash))
      } catch (cause) {
        await rm(draft, { force: true }).catch(() => undefined)
        throw new Failure('REFUSED', `The ${what} cannot be kept in ${folder}: it cannot be written.`, {
          reason: 'folder_not_writable',
          hint: 'Answer outside the sandbox, or name a folder that can be written with XDG_STATE_HOME.',
          cause,
        })
      }
    },
    list: async (folders: readonly string[]): Promise<readonly ApprovedCommand[]> => {
      const places = await Promise.all(folders.map((named) => realpath(named).catch(() => resolve(named))))
      const names = (await readdir(folder).catch(() => [])).filter((name) =>
        isHash(name.replace(/\.json$/, '')),
      )
      const found: ApprovedCommand[] = []
      for (const name of names.slice(0, mostRead)) {
        const kept = parsed(await readFile(join(folder, name), 'utf8').catch(() => ''))
        if (kept === null || `${kept.hash}.json` !== name) continue
        const place = await realpath(kept.folder).catch(() => kept.folder)
        if (places.includes(place)) found.push(kept)
      }
      return found.sort((one, other) => other.at - one.at)
    },
    remove: async (hash: string): Promise<void> => {
      if (isHash(hash)) await rm(fileOf(hash), { force: true })
    },
  }
}

const mostRead = 5_000

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

type Stored = Omit<ApprovedCommand, 'pinned' | 'files'>

/** Approvals from before files were written down have none. */
function parsed(text: string): ApprovedCommand | null {
  try {
    const stored: unknown = JSON.parse(text)
    if (typeof stored !== 'object' || stored === null || !('hash' in stored)) return null
    const { pinned = [], files = [], ...rest } = stored as Partial<ApprovedCommand> & Stored // as this module wrote it
    return { ...rest, pinned, files }
  } catch {
    return null
  }
}

/** A path, with the SHA-256 of what is there: null for nothing, a word for what is no file. */
export type Pinned = readonly [path: string, content: string | null]

const maxFiles = 10_000
const maxBytes = 512 * 1024 * 1024

/** The content of pinned files of a project's folder, in one order. A folder stands for every file in it. */
async function pinnedFiles(folder: string, paths: readonly string[], signal: AbortSignal): Promise<Pinned[]> {
  const reader = new PinnedReader(folder, signal)
  for (const path of paths) await reader.read(path)
  return reader.found()
}

/** Hashes files inside one folder, within limits, until it is told to stop. */
class PinnedReader {
  readonly #folder: string
  readonly #signal: AbortSignal
  readonly #pinned = new Map<string, string | null>()
  #bytes = 0

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder
    this.#signal = signal
  }

  found(): Pinned[] {
    return [...this.#pinned].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  async read(pattern: string): Promise<void> {
    const path =
      pattern
        .trim()
        .replace(/^(\.?\/)+/, '')
        .replace(/\/+$/, '') || '.'
    const place = containedPath(this.#folder, path, onlyHashed)
    if ('reason' in place && leavesProject.has(place.reason)) throw notPinned(pattern, problemWith(place))
    await this.#contents(path)
  }

  async #contents(path: string): Promise<void> {
    this.#signal.throwIfAborted()
    if (this.#pinned.size >= maxFiles) {
      throw notPinned(path, `is one of more than ${maxFiles} pinned files`)
    }
    const place = containedPath(this.#folder, path, { secrets: 'allowed' })
    if ('reason' in place) {
      this.#pinned.set(path, await this.#refused(path, place.reason))
      return
    }
    const found = entryAt(place.absolute)
    if (found === undefined) this.#pinned.set(path, null)
    else if (found.isFile()) this.#pinned.set(path, await this.#sha256(path))
    else if (!found.isDirectory()) this.#pinned.set(path, 'special')
    else await this.#entries(path, place.absolute)
  }

  async #entries(path: string, absolute: string): Promise<void> {
    this.#pinned.set(path, 'folder')
    for (const entry of await readdir(absolute, { withFileTypes: true })) {
      const name = path === '.' ? entry.name : `${path}/${entry.name}`
      // A linked folder could lead back to where it is. Git's own files change without anybody.
      const isFolder = entry.isSymbolicLink() && this.#isLinkedFolder(name)
      if (isFolder) this.#pinned.set(name, 'linked folder')
      else if (entry.name !== '.git') await this.#contents(name)
    }
  }

  #isLinkedFolder(path: string): boolean {
    const place = containedPath(this.#folder, path, { secrets: 'allowed' })
    return !('reason' in place) && entryAt(place.absolute)?.isDirectory() === true
  }

  /** Nothing outside is read: of a link that leads there, only what it says counts. */
  async #refused(path: string, reason: RefusalReason): Promise<string | null> {
    if (reason === 'missing') return null
    const target = await readlink(join(this.#folder, path)).catch(() => null)
    return target === null ? reason : createHash('sha256').update(`link ${target}`).digest('hex')
  }

  async #sha256(path: string): Promise<string> {
    const left = maxBytes - this.#bytes
    const opened = await openContained(this.#folder, path, { secrets: 'allowed', maxBytes: left })
    if ('reason' in opened) {
      if (opened.reason !== 'too_large') return 'unreadable'
      throw notPinned(path, `makes the pinned files larger than ${maxBytes} bytes`)
    }
    this.#bytes += opened.size
    const hash = createHash('sha256')
    try {
      // The stream closes the file.
      const stream = opened.file.createReadStream({ signal: this.#signal, end: left })
      for await (const chunk of stream) hash.update(chunk)
    } catch {
      this.#signal.throwIfAborted()
      return 'unreadable'
    }
    return hash.digest('hex')
  }
}

const leavesProject: ReadonlySet<RefusalReason> = new Set(['outside', 'git', 'invalid'])

// Only names and hashes are kept.
const onlyHashed = { secrets: 'allowed', missing: 'allowed' } as const

function notPinned(path: string, problem: string): Failure {
  return new Failure('REFUSED', `"${excerpt(path, 200)}" cannot be pinned: it ${problem}.`, {
    reason: 'pinned_path_invalid',
    hint: "Pin files of the project's folder that say what the command does, such as package.json or scripts/.",
  })
}
