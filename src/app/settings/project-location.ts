import { existsSync, type Stats, statSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import { isWithin } from '../../kernel/files/contained-file.ts'
import { readRegularSync } from '../../kernel/files/regular-file.ts'
import { canWrite, type Machine, stateFolder } from '../../kernel/files/state-folder.ts'
import type { Fingerprint } from '../../store/ports/store.ts'
import { isPostgresUrl } from '../../store/postgres/database-url.ts'
import type { FolderProjectQuery } from '../../store/postgres/project.ts'
import { type Environment, firstSetVariable } from './environment.ts'

export interface ProjectRequest {
  /** The value of `--project`. */
  readonly flag?: string | undefined
  readonly environment: Environment
  readonly workingFolder: string
}

/** The variables in which clients pass their working folder. */
const clientVariables = ['CLAUDE_PROJECT_DIR', 'CURSOR_PROJECT_DIR', 'GEMINI_PROJECT_DIR']

/** The project folder of a process: the named one, else the top of the work tree, else the working folder. */
export function projectFolder(
  request: ProjectRequest,
  enclosingTree: (folder: string) => string | null,
): string {
  const { workingFolder } = request
  const named = namedFolders(request).find(({ value }) => !isUnexpanded(value))
  return named === undefined
    ? (enclosingTree(workingFolder) ?? workingFolder)
    : resolve(workingFolder, named.value)
}

/** Makes a path relative to the project's folder; unchanged if the caller is outside. */
export function relativeToProject(path: string, folder: string, workingFolder: string): string {
  const inside = relative(folder, workingFolder)
  if (inside === '' || !isWithin(folder, workingFolder)) return path
  return isAbsolute(path) || path.startsWith(':/') ? path : join(inside, path)
}

/** The sources of the project's folder with an unexpanded variable, which are ignored. */
export function unexpandedNames(request: ProjectRequest): readonly string[] {
  return namedFolders(request).flatMap(({ by, value }) => (isUnexpanded(value) ? [`${by}=${value}`] : []))
}

function namedFolders({ flag, environment }: ProjectRequest) {
  const variables = ['WAYMARK_PROJECT', ...clientVariables].map((by) => ({ by, value: environment[by] }))
  const all = [
    { by: '--project', value: flag },
    ...variables,
    { by: 'WORKSPACE_FOLDER_PATHS', value: firstOfSeveral(environment) },
  ]
  return all.flatMap(({ by, value }) => (value === undefined || value === '' ? [] : [{ by, value }]))
}

function isUnexpanded(value: string): boolean {
  return value.includes('${')
}

// Cursor passes all folders of a workspace, separated by commas; its agent starts in the first.
function firstOfSeveral(environment: Environment): string | undefined {
  return environment['WORKSPACE_FOLDER_PATHS']?.split(',')[0] || undefined
}

/** Why a folder cannot be a project, or null. A server there still runs, and each call fails with this. */
export function unusableFolder(folder: string, home: string): Failure | null {
  if (folder !== home && folder !== '/' && !/^[a-z]:\\$/i.test(folder)) return null
  return new Failure('UNAVAILABLE', `No project: ${folder} is not a project folder.`, {
    reason: 'no_project_chosen',
    hint: 'Start it in a project folder, or use --project <folder> or WAYMARK_PROJECT=<folder>.',
  })
}

/** Why a named folder does not exist; null if it does. */
export function missingFolder(folder: string): Failure | null {
  const found = entryAt(folder)
  if (found?.isDirectory()) return null
  return new Failure('UNAVAILABLE', found ? `${folder} is not a folder.` : `There is no folder ${folder}.`, {
    reason: found ? 'not_a_folder' : 'folder_not_found',
    hint: 'Use --project <folder>, or run this in the folder of a project.',
  })
}

/**
 * The nearest parent folder with `.git`, without starting git. A home folder under version control is no project, nor
 * is anything above it.
 */
export function enclosingTree(folder: string, home: string): string | null {
  const parent = dirname(folder)
  if (folder === home || parent === folder) return null
  return existsSync(join(folder, '.git')) ? folder : enclosingTree(parent, home)
}

/**
 * The top of the main work tree, as git would name it, without starting git: `.git` of a linked tree is a file that
 * leads to the main one. Everything else is its own main tree.
 */
export function mainTree(top: string): string {
  const entry = join(top, '.git')
  if (statSync(entry, { throwIfNoEntry: false })?.isFile() !== true) return top
  const named = /^gitdir: (.*)\n?$/.exec(readRegularSync(entry).toString('utf8'))?.[1]
  if (named === undefined) return top
  const gitFolder = resolve(top, named)
  const pointer = join(gitFolder, 'commondir')
  if (!existsSync(pointer)) return top // a submodule, or a git folder kept elsewhere
  const common = resolve(gitFolder, readRegularSync(pointer).toString('utf8').trim())
  return basename(common) === '.git' ? dirname(common) : common
}

/** The project's root with `.waymark`; for a bare repository the folder beside it. */
export function projectRoot(mainTop: string): string {
  const isGitFolder = ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(mainTop, name)))
  return isGitFolder ? dirname(mainTop) : mainTop
}

/** The location of a project's record. */
export interface DatabaseLocation {
  /** Absolute path. */
  readonly file: string
  /** The user named it: several projects may share it. */
  readonly shared: boolean
}

/** `WAYMARK_DATABASE`, else `TASKMAN_DB_NAME`, else `.waymark/waymark.db` in the project's root. */
export function databasePlace(
  environment: Environment,
  folders: { readonly root: string; readonly working: string },
): DatabaseLocation {
  const named = firstSetVariable(environment, ['WAYMARK_DATABASE', 'TASKMAN_DB_NAME'])
  if (named === undefined) return { file: join(folders.root, '.waymark', 'waymark.db'), shared: false }
  if (/^[a-z][a-z0-9+]*:\/\//i.test(named)) throw unknownKind(named)
  return { file: resolve(folders.working, named), shared: true }
}

function unknownKind(url: string): Failure {
  const protocol = url.slice(0, url.indexOf('://') + 3)
  return new Failure(
    'UNAVAILABLE',
    `Cannot use a database at ${protocol}…. Use an SQLite file, or a server at postgres://….`,
    {
      reason: 'database_protocol_unknown',
      hint: 'Set WAYMARK_DATABASE to the path of a file or to a URL that begins with postgres://, or unset it to use .waymark/waymark.db.',
    },
  )
}

/** A database on a server, with the password. */
export interface ServerDatabase {
  readonly url: string
  /** The address for LISTEN, if different. */
  readonly listen: string | null
}

/** The named database for all projects of a server. */
export function namedDatabase(environment: Environment): string | undefined {
  return firstSetVariable(environment, ['WAYMARK_DATABASE'])
}

/** The server that `WAYMARK_DATABASE` names; null where it names a file or nothing. */
export function serverDatabase(environment: Environment): ServerDatabase | null {
  const url = namedDatabase(environment)
  if (url === undefined || !isPostgresUrl(url)) return null
  const listen = firstSetVariable(environment, ['WAYMARK_DATABASE_LISTEN']) ?? null
  return { url, listen }
}

/** The project of a folder of this machine, on a server. */
export function requestedFolder(environment: Environment, root: string): FolderProjectQuery {
  const name = firstSetVariable(environment, ['WAYMARK_PROJECT_NAME']) ?? null
  return { root, name, machine: firstSetVariable(environment, ['WAYMARK_MACHINE']) ?? hostname() }
}

/** The folder for snapshots that can be written: the platform's, else one in the project. */
export function writableStateFolder(
  machine: Machine,
  project: string,
  canWrite: (folder: string) => boolean,
): string {
  const preferred = stateFolder(machine)
  return canWrite(preferred) ? preferred : join(project, '.waymark', 'state')
}

/**
 * The part of the state folder for one project and its database. Pruning removes everything that this database does not
 * name, so two databases must never share a folder.
 */
export function projectStatePath(
  state: string,
  identity: { readonly folder: string; readonly database: string | null },
  fingerprint: Fingerprint,
): string {
  return join(state, 'projects', folderName(identity.folder, fingerprint(identity)))
}

/** The anchor file with the last log entry of a project, shared by its work trees. */
export function anchorOf(
  state: string,
  identity: { readonly root: string; readonly database: string },
  fingerprint: Fingerprint,
): string {
  return join(state, 'records', folderName(identity.root, fingerprint(identity)))
}

function folderName(folder: string, hash: string): string {
  const name = basename(folder)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 40)
  return `${name}-${hash.slice(0, 12)}`
}

/** The folder for tokens and sessions of this user's servers, outside any project. */
export function serverFolder(environment: Environment): string {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const folder = join(stateFolder({ platform: process.platform, environment, home }), 'server')
  if (canWrite(folder)) return folder
  throw new Failure('UNAVAILABLE', `Cannot keep the tokens of the server: ${folder} is not writable.`, {
    reason: 'folder_not_writable',
    hint: 'Make it writable, or set XDG_STATE_HOME to a writable folder.',
  })
}

function entryAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // a file where a folder should be: the walk upwards meets it
  }
}

/** Whether a project is at a server, without reading which. */
export function hasServerSetting(environment: Environment, root: string): boolean {
  if (firstSetVariable(environment, ['WAYMARK_SERVER']) !== undefined) return true
  return existsSync(join(root, '.waymark', 'server'))
}

/** The project's root, found without git. */
export function rootWithoutGit(request: ProjectRequest): string {
  const { environment } = request
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const folder = projectFolder(request, (start) => enclosingTree(start, home))
  return projectRoot(mainTree(enclosingTree(folder, home) ?? folder))
}
