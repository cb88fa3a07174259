import { readFileSync, type Stats, statSync } from 'node:fs'
import { dirname, join, posix, resolve, win32 } from 'node:path'
import { containedPath, entryAt, reachedPath } from '../files/contained.ts'

/** A project where a person switched capture on. */
export interface CapturedProject {
  /** The folder that `.waymark` lies in, links resolved. */
  readonly root: string
  readonly settings: CaptureSettings
}

/** What a person chose, in `.waymark/capture.json`. */
export interface CaptureSettings {
  readonly on: boolean
  /** `local`: what people ask is kept, redacted, in the database here. */
  readonly prompts: 'off' | 'local'
  /** `full`: the line of a command, redacted, and not only its program. */
  readonly commands: 'program' | 'full'
  /** Files that are never copied, besides those that are secret by their names; `*` stands for anything. */
  readonly secret: readonly string[]
}

export const settingsName = 'capture.json'
const longestSettings = 64 * 1024

/** The project that a folder belongs to, if its work is recorded: found without git, through linked work trees. */
export function projectAt(folder: string): CapturedProject | null {
  const real = reachedPath(folder)
  const start = typeof real === 'string' ? real : folder
  for (let at = start; ; at = dirname(at)) {
    const own = ownState(at)
    if (own !== 'nothing') return own
    const main = mainOf(at)
    if (main !== null) {
      const there = ownState(main)
      if (there !== 'nothing') return there
    }
    if (dirname(at) === at) return null
  }
}

/** What a folder says of itself: a project that is recorded, one that is not, or nothing. */
function ownState(folder: string): CapturedProject | null | 'nothing' {
  const state = join(folder, '.waymark')
  const settings = readSettings(state)
  if (settings !== null) {
    // A link would lead what is written out of the project.
    const isFolder = entryAt(state)?.isDirectory() === true
    return settings.on && isFolder ? { root: folder, settings } : null
  }
  return statOf(join(state, 'waymark.db')) ? null : 'nothing'
}

/** Null where nobody ever chose. A file that cannot be understood switches off. */
export function readSettings(stateFolder: string): CaptureSettings | null {
  const file = join(stateFolder, settingsName)
  const found = statOf(file)
  if (found === undefined) return null
  const off: CaptureSettings = { on: false, prompts: 'off', commands: 'program', secret: [] }
  if (!found.isFile() || found.size > longestSettings) return off
  try {
    const said: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof said !== 'object' || said === null) return off
    const { on, prompts, commands, secret } = said as Readonly<Record<string, unknown>>
    return {
      on: on === true,
      prompts: prompts === 'local' ? 'local' : 'off',
      commands: commands === 'full' ? 'full' : 'program',
      secret: Array.isArray(secret) ? secret.filter((one) => typeof one === 'string') : [],
    }
  } catch {
    return off
  }
}

/** The main work tree of a linked one; null for every other folder. */
function mainOf(top: string): string | null {
  try {
    const entry = join(top, '.git')
    const found = statOf(entry)
    if (found?.isFile() !== true || found.size > longestSettings) return null
    const named = /^gitdir: (.*)\n?$/.exec(readFileSync(entry, 'utf8'))?.[1]
    if (named === undefined) return null
    const gitFolder = resolve(top, named)
    const pointer = join(gitFolder, 'commondir')
    if (statOf(pointer)?.isFile() !== true) return null
    const common = resolve(gitFolder, readFileSync(pointer, 'utf8').trim())
    // Beside a bare repository, as everywhere else.
    return dirname(common)
  } catch {
    return null
  }
}

/**
 * Where a path of a payload leads, if that is inside the project or another work tree of it: absolute, links resolved,
 * spelt as it stands on the disk. Null for everything else.
 */
export function placeOf(path: string, folder: string, root: string): string | null {
  const local = localPath(path, folder, process.platform)
  if (local === null) return null
  const own = containedPath(root, local, anyFile)
  if (!('reason' in own)) return own.absolute
  if (own.reason !== 'outside') return null
  const real = reachedPath(local)
  const other = typeof real === 'string' ? treeAround(real, root) : null
  const there = other === null ? null : containedPath(other, local, anyFile)
  return there === null || 'reason' in there ? null : there.absolute
}

// Only its name is kept of a secret file, and nothing is read of one that is gone.
const anyFile = { secrets: 'allowed', missing: 'allowed' } as const

/** Another work tree of the same project that a path lies in. */
function treeAround(path: string, root: string): string | null {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    if (statOf(join(at, '.git')) !== undefined) return projectAt(at)?.root === root ? at : null
  }
  return null
}

/** A path as this system writes it; null where it is one of another system, or none at all. */
export function localPath(path: string, folder: string, platform: string): string | null {
  if (path === '' || path.length > 4096 || path.includes('\0')) return null
  if (platform !== 'win32') {
    return /^[a-z]:[\\/]|^\\\\/i.test(path) ? null : posix.resolve(folder, path)
  }
  // As Git Bash and Cygwin write a drive.
  const drive = /^\/(?:cygdrive\/)?([a-z])(?:\/|$)/i.exec(path)
  return win32.resolve(folder, drive ? `${drive[1]}:\\${path.slice(drive[0].length)}` : path)
}

export function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
