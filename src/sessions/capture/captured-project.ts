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

/** A person's settings: in their own state folder, because others can write files in the project. */
export interface CaptureSettings {
  readonly on: boolean
  /** `local`: prompts are kept, redacted, in the local database. */
  readonly prompts: 'off' | 'local'
  /** `full`: the redacted line of a command instead of its program. */
  readonly commands: 'program' | 'full'
  /** Files that are never copied, besides those that are secret by their names; `*` stands for anything. */
  readonly secret: readonly string[]
}

export const settingsName = 'capture.json'
const maxSettingsBytes = 64 * 1024

/** The user's folder for hook queues, outside of every project. */
export function hooksBase(environment: CaptureEnvironment): string {
  const home =
    environment['HOME'] || environment['USERPROFILE'] || process.getBuiltinModule('node:os').homedir()
  return join(stateFolder({ platform: process.platform, environment, home }), 'hooks')
}

/** The folder of one project in it. */
export function hooksFolder(root: string, environment: CaptureEnvironment): string {
  const real = resolvedPath(root)
  const name = basename(real)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 40)
  return join(hooksBase(environment), `${name}-${hashText(real)}`)
}

/** The captured project that a folder belongs to: found without git, through linked work trees. */
export function projectAt(folder: string, environment: CaptureEnvironment): CapturedProject | null {
  for (let at = resolvedPath(folder); ; at = dirname(at)) {
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

/** Null if there are no settings. A file that cannot be parsed switches capture off. */
export function readSettings(root: string, environment: CaptureEnvironment): CaptureSettings | null {
  const file = join(hooksFolder(root, environment), settingsName)
  if (!entryAt(file)) return null
  let settings: Readonly<Record<string, unknown>> = {}
  try {
    settings = Object(JSON.parse(textOf(file) ?? ''))
  } catch {}
  const { root: projectRoot = resolvedPath(root), on, prompts, commands, secret } = settings
  // The name of the folder is only a short hash of the path.
  if (projectRoot !== resolvedPath(root)) return null
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
 * Resolves a path of a payload inside the project or another work tree of it: absolute, links resolved, spelled as on
 * the disk. Null for everything else.
 */
export function placeInProject(
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

// For paths only: a secret file is not read, and a missing one is still named.
const anyFile = { secrets: 'allowed', missing: 'allowed' } as const

/** Another work tree of the same project that a path lies in. */
function treeAround(path: string, root: string, environment: CaptureEnvironment): string | null {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    if (statOf(join(at, '.git')) !== undefined) return projectAt(at, environment)?.root === root ? at : null
  }
  return null
}

/** A path as this system writes it; null if it is of another system or no path. */
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

/** The path with links resolved, as far as it exists. */
export function resolvedPath(path: string): string {
  const real = reachedPath(path)
  return typeof real === 'string' ? real : path
}
