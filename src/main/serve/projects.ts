import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Actor } from '../../domain/actor.ts'
import { Failure } from '../../domain/failure.ts'
import { serverProject } from '../../domain/identity/identity.ts'
import type { Context } from '../../operations/operation.ts'
import type { LoadedProcess, PlanFiles, ProcessFiles } from '../../ports/project-files.ts'
import { fingerprint } from '../../storage/fingerprint.ts'
import type { FolderWanted } from '../../storage/postgres/project.ts'
import type { ServedProject } from '../../surfaces/http/serving.ts'
import { deferredPlanFiles, deferredProcessFiles } from '../deferred.ts'
import { openContext } from '../open-context.ts'
import { type Environment, firstSet } from '../settings/environment.ts'
import { folderWanted, projectRoot, type ServerDatabase, unusableFolder } from '../settings/places.ts'

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

/** The projects of a database on a server: those of this machine's folders first, then every other one. */
export interface DatabaseProjects {
  /** Grows while it is served: a project that another machine made is served without a restart. */
  readonly served: [ServedProject, ...ServedProject[]]
  readonly open: readonly [OpenProject, ...OpenProject[]]
  /** Looks for new projects. */
  refresh(): Promise<readonly OpenProject[]>
}

interface OfFolder {
  readonly context: Context
  readonly wanted: FolderWanted
  served: ServedProject
  id: string | null
}

/** Opens every project of a database. Where it has none yet, and no folder is meant, the server's own is served. */
export async function openDatabaseProjects(
  request: ProjectsRequest,
  server: ServerDatabase,
): Promise<DatabaseProjects> {
  const { environment, workingFolder } = request
  const { projectsOf, projectIdOf } = await import('../../storage/postgres/store.ts')
  const ofFolders = await Promise.all(
    foldersOf(request).map(async ({ context, served }): Promise<OfFolder> => {
      const root = projectRoot((await context.witness.locate(context.folder)).mainTop)
      return { context, served, wanted: folderWanted(environment, root), id: null }
    }),
  )
  const others = new Map<string, OpenProject>()
  const opened = (id: string, name: string): OpenProject => {
    const context = openContext({ actor: nobody, environment, workingFolder, elsewhere: { id, name } })
    return { served: { ...served(context, name), name }, context }
  }
  const all: ServedProject[] = []
  const open: OpenProject[] = [...ofFolders]
  const refresh = async (): Promise<readonly OpenProject[]> => {
    for (const project of ofFolders) project.id ??= await projectIdOf(server, project.wanted)
    const named = await projectsOf(server)
    const isOfFolder = new Set(ofFolders.map(({ id }) => id))
    const added = named
      .filter(({ id }) => !isOfFolder.has(id) && !others.has(id))
      .map(({ id, name }) => {
        const project = opened(id, name)
        others.set(id, project)
        return project
      })
    open.push(...added)
    const nameOf = new Map(named.map(({ id, name }) => [id, name]))
    for (const project of ofFolders) {
      const { key, folder } = project.served
      const name = nameOf.get(project.id ?? '') ?? freeKey(key, [...nameOf.values()], folder)
      // A route of the server knows a project by its object.
      if (name !== key) project.served = { ...project.served, key: name }
    }
    const now = [...ofFolders, ...others.values()].map(({ served }) => served)
    if (now.length > 0) all.splice(0, all.length, ...now)
    return added
  }
  await refresh()
  if (all.length === 0) {
    const own = opened(serverProject, serverProject)
    open.push(own)
    all.push(own.served)
  }
  // There is one at least.
  return {
    served: all as [ServedProject, ...ServedProject[]],
    open: open as [OpenProject, ...OpenProject[]],
    refresh,
  }
}

/** The folders that are named, or the one that the server was started in, if that can be a project. */
function foldersOf(request: ProjectsRequest): readonly OpenProject[] {
  const home = firstSet(request.environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const isNamed = request.named.length > 0 || firstSet(request.environment, ['WAYMARK_PROJECT']) !== undefined
  if (isNamed || unusableFolder(resolve(request.workingFolder), home) === null) return openProjects(request)
  return []
}

function freeKey(key: string, taken: readonly string[], folder: string): string {
  return taken.includes(key) ? `${key}-${fingerprint(folder).slice(0, 8)}` : key
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
  return freeKey(name === '' ? 'project' : name, taken, folder)
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
