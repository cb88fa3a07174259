import { type Stats, statSync } from 'node:fs'
import { basename, dirname, join, posix, resolve, win32 } from 'node:path'
import { containedPath, entryAt, reachedPath } from '../../kernel/files/contained-file.ts'
import { readOwn } from '../../kernel/files/regular-file.ts'
import { stateFolder } from '../../kernel/files/state-folder.ts'
import { hashText } from './hash.ts'

export type CaptureEnvironment = Readonly<Record<string, string | undefined>>

/** A project where a person switched capture on. */
export interface CapturedProject {
  /** The folder of the main work tree, links resolved. */
  readonly root: string
  readonly settings: CaptureSettings
}

/** What a person chose: kept in their own state folder, because a file in the project may be somebody else's. */
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
const maxSettingsBytes = 64 * 1024

/** Where this user keeps what Waymark records of hooks, outside of every project. */
export function hooksBase(environment: CaptureEnvironment): string {
  const home =
    environment['HOME'] || environment['USERPROFILE'] || process.getBuiltinModule('node:os').homedir()
  return join(stateFolder({ platform: process.platform, environment, home }), 'hooks')
}

/** The folder of one project in it. */
export function hooksFolder(root: string, environment: CaptureEnvironment): string {
  const real = realPath(root)
  const name = basename(real)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 40)
  return join(hooksBase(environment), `${name}-${hashText(real)}`)
}

/** The project that a folder belongs to, if its work is recorded: found without git, through linked work trees. */
export function projectAt(folder: string, environment: CaptureEnvironment): CapturedProject | null {
  for (let at = realPath(folder); ; at = dirname(at)) {
    for (const root of [at, mainOf(at)]) {
      if (root === null) continue
      const settings = readSettings(root, environment)
      if (settings) return settings.on ? { root, settings } : null
      // A project that is not recorded.
      if (statOf(join(root, '.waymark/waymark.db'))) return null
    }
    if (dirname(at) === at) return null
  }
}

/** Null where nobody ever chose. A file that cannot be understood switches off. */
export function readSettings(root: string, environment: CaptureEnvironment): CaptureSettings | null {
  const file = join(hooksFolder(root, environment), settingsName)
  if (!entryAt(file)) return null
  let said: Readonly<Record<string, unknown>> = {}
  try {
    said = Object(JSON.parse(textOf(file) ?? ''))
  } catch {}
  const { root: of = realPath(root), on, prompts, commands, secret } = said
  // The name of the folder is a short sign of the path only.
  if (of !== realPath(root)) return null
  return {
    on: on === true,
    prompts: prompts === 'local' ? 'local' : 'off',
    commands: commands === 'full' ? 'full' : 'program',
    secret: Array.isArray(secret) ? secret.filter((one) => typeof one === 'string') : [],
  }
}

/** The main work tree of a linked one; null for every other folder. */
function mainOf(top: string): string | null {
  try {
    const entry = join(top, '.git')
    if (statOf(entry)?.isFile() !== true) return null
    const named = /^gitdir: (.*)\n?$/.exec(textOf(entry) ?? '')?.[1]
    if (named === undefined) return null
    const gitFolder = resolve(top, named)
    const pointer = textOf(join(gitFolder, 'commondir'))
    if (pointer === null) return null
    const common = resolve(gitFolder, pointer.trim())
    // Beside a bare repository, as everywhere else.
    return dirname(common)
  } catch {
    return null
  }
}

function textOf(file: string): string | null {
  return readOwn(file, maxSettingsBytes)?.toString() ?? null
}

/**
 * Where a path of a payload leads, if that is inside the project or another work tree of it: absolute, links resolved,
 * spelt as it stands on the disk. Null for everything else.
 */
export function placeOf(
  path: string,
  folder: string,
  { root, environment }: { readonly root: string; readonly environment: CaptureEnvironment },
): string | null {
  const local = localPath(path, folder, process.platform)
  if (local === null) return null
  const own = containedPath(root, local, anyFile)
  if (!('reason' in own)) return own.absolute
  if (own.reason !== 'outside') return null
  const real = reachedPath(local)
  const other = typeof real === 'string' ? treeAround(real, root, environment) : null
  const there = other === null ? null : containedPath(other, local, anyFile)
  return there === null || 'reason' in there ? null : there.absolute
}

// Only its name is kept of a secret file, and nothing is read of one that is gone.
const anyFile = { secrets: 'allowed', missing: 'allowed' } as const

/** Another work tree of the same project that a path lies in. */
function treeAround(path: string, root: string, environment: CaptureEnvironment): string | null {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    if (statOf(join(at, '.git')) !== undefined) return projectAt(at, environment)?.root === root ? at : null
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

/** The path with links resolved, as far as there is something. */
export function realPath(path: string): string {
  const real = reachedPath(path)
  return typeof real === 'string' ? real : path
}
