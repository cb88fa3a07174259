import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, posix, relative, resolve, sep, win32 } from 'node:path'

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
  const start = realPath(folder) ?? folder
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
  const real = reached(local)
  if (real === null || real.split(sep).includes('.git')) return null
  if (isInside(real, root)) return real
  return projectAt(real)?.root === root ? real : null
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

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** What a path leads to, though its last parts need not exist yet. A link that leads nowhere is no place. */
function reached(path: string): string | null {
  const missing: string[] = []
  for (let existing = path; ; existing = dirname(existing)) {
    const real = realPath(existing)
    if (real !== null) return join(real, ...missing)
    if (entryAt(existing)?.isSymbolicLink()) return null
    if (dirname(existing) === existing) return null
    missing.unshift(basename(existing))
  }
}

export function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

/** What stands at a path, where that is a link: the link. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}
