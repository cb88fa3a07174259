import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Actor } from '../../domain/actor.ts'
import { Failure } from '../../domain/failure.ts'
import type { Context } from '../../operations/operation.ts'
import type { LoadedProcess, PlanFiles, ProcessFiles } from '../../ports/project-files.ts'
import { fingerprint } from '../../storage/fingerprint.ts'
import type { ServedProject } from '../../surfaces/http/serving.ts'
import { deferredPlanFiles, deferredProcessFiles } from '../deferred.ts'
import { openContext } from '../open-context.ts'
import { type Environment, firstSet } from '../settings/environment.ts'
import { unusableFolder } from '../settings/places.ts'

/** A project with what must be ended when the server ends. */
export interface OpenProject {
  readonly served: ServedProject
  readonly context: Context
}

export interface ProjectsRequest {
  /** The values of `--project`; without one, the project of the working folder. */
  readonly named: readonly string[]
  readonly environment: Environment
  readonly workingFolder: string
}

const nobody: Actor = { name: 'waymark serve', kind: 'agent', role: null, channel: 'http' }

/** Opens every project once, in the order in which they were named. */
export function openProjects(request: ProjectsRequest): readonly [OpenProject, ...OpenProject[]] {
  const { named, environment, workingFolder } = request
  const wanted = named.length === 0 ? [undefined] : named
  const contexts = wanted.map((project) =>
    openContext({ actor: nobody, environment, workingFolder, project: folderOf(project, workingFolder) }),
  )
  const distinct = contexts.filter(
    ({ folder }, at) => contexts.findIndex((other) => other.folder === folder) === at,
  )
  const keys: string[] = []
  const [first, ...others] = distinct.map((context) => {
    refuseUnusable(context.folder, environment)
    const key = keyOf(context.folder, keys)
    keys.push(key)
    return { served: served(context, key), context }
  })
  if (!first) throw new Error('there is always a project')
  return [first, ...others]
}

function folderOf(named: string | undefined, workingFolder: string): string | undefined {
  if (named === undefined) return undefined
  const folder = resolve(workingFolder, named)
  if (existsSync(folder) && statSync(folder).isDirectory()) return realpathSync(folder)
  throw new Failure('NOT_FOUND', `There is no folder ${named}.`, { hint: `It was looked for at ${folder}.` })
}

function refuseUnusable(folder: string, environment: Environment): void {
  const refusal = unusableFolder(folder, firstSet(environment, ['HOME', 'USERPROFILE']) ?? homedir())
  if (refusal) throw refusal
}

/** The folder's name; two of one name are told apart by where they lie, so that a key stays what it was. */
function keyOf(folder: string, taken: readonly string[]): string {
  const name = basename(folder)
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  const key = name === '' ? 'project' : name
  return taken.includes(key) ? `${key}-${fingerprint(folder).slice(0, 8)}` : key
}

/** Whoever is elsewhere may name only files of the project, and a relative path is meant from its folder. */
export function confined(context: Context): Context {
  const { folder } = context
  return {
    ...context,
    planFiles: confinedPlanFiles(deferredPlanFiles(folder), folder),
    processFiles: confinedProcessFiles(deferredProcessFiles(folder, folder), folder),
  }
}

function served(context: Context, key: string): ServedProject {
  const { folder } = context
  const shared = confined(context)
  return {
    key,
    name: basename(folder),
    folder,
    clients: () => clientsOf(folder),
    contextOf: (actor) => ({ ...shared, actor }),
  }
}

/** Plans of a project's own folder. */
function confinedPlanFiles(files: PlanFiles, folder: string): PlanFiles {
  return {
    load: async (path, format) => {
      refuseOutside(path, folder)
      return files.load(path, format)
    },
  }
}

/** Processes by their id, or by a file of the project's own folder. */
function confinedProcessFiles(files: ProcessFiles, folder: string): ProcessFiles {
  return {
    list: async () => (await files.list()).filter((process) => isOwn(process, folder)),
    hasOwn: () => files.hasOwn(),
    read: (source) => files.read(source),
    load: async (idOrFile) => {
      refuseOutside(idOrFile, folder)
      const process = await files.load(idOrFile)
      if (!isOwn(process, folder)) refuse(idOrFile)
      return process
    },
  }
}

/** An id may stand for a link, too. */
function isOwn({ origin, file }: LoadedProcess, folder: string): boolean {
  return origin === 'shipped' || liesInside(file, folder)
}

function refuseOutside(path: string, folder: string): void {
  if (!liesInside(path, folder)) refuse(path)
}

/** Follows links: one that lies in the project may lead out of it. */
function liesInside(path: string, folder: string): boolean {
  const place = resolve(folder, path)
  return isInside(place, folder) && isInside(realOf(place), realOf(folder))
}

function refuse(path: string): never {
  throw new Failure(
    'FORBIDDEN',
    `${path.slice(0, 200)} lies outside the project, and over HTTP only its own files are read.`,
    {
      hint: 'Copy the file into the project, or use the command line.',
    },
  )
}

function isInside(place: string, folder: string): boolean {
  const way = relative(folder, place)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path) // there is no such file yet; where it would lie is what counts
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}

const traces: readonly (readonly [string, readonly string[]])[] = [
  ['Claude Code', ['.claude', 'CLAUDE.md', '.mcp.json']],
  ['Cursor', ['.cursor', '.cursorrules']],
  ['Codex', ['.codex']],
  ['VS Code', ['.vscode', '.github/copilot-instructions.md']],
]

/** The clients of agents that left something in a project, the likeliest first. */
function clientsOf(folder: string): readonly string[] {
  return traces
    .filter(([, paths]) => paths.some((path) => existsSync(join(folder, path))))
    .map(([name]) => name)
}
