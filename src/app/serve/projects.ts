import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { serverProject } from '../../people/domain/identity.ts'
import { fingerprint } from '../../store/fingerprint.ts'
import type { ServedProject } from '../../surfaces/http/serving.ts'
import { deferredPlanFiles, deferredProcessFiles } from '../lazy-ports.ts'
import { openContext } from '../open-context.ts'
import { type Environment, firstSetVariable } from '../settings/environment.ts'
import { enclosingTree, unusableFolder } from '../settings/project-location.ts'

/** A served project with its cleanup. */
export interface OpenProject {
  readonly served: ServedProject
  readonly context: Context
}

export interface ProjectsRequest {
  /** The values of `--project`; without one, the project of the working folder. */
  readonly named: readonly string[]
  readonly environment: Environment
  readonly workingFolder: string
  /** Only this machine has access: webhooks may use private networks without a flag. */
  readonly reachesPrivate?: boolean
}

const nobody: Actor = { name: 'waymark serve', kind: 'agent', role: null, channel: 'http' }

/** Opens every project once, in the given order. */
export function openProjects(request: ProjectsRequest): readonly [OpenProject, ...OpenProject[]] {
  const { named, environment, workingFolder, reachesPrivate = false } = request
  const wanted = named.length === 0 ? [undefined] : named
  const contexts = wanted.map((project) =>
    openContext({
      actor: nobody,
      environment,
      workingFolder,
      project: folderOf(project, workingFolder),
      reachesPrivate,
    }),
  )
  const distinct = contexts.filter(
    ({ folder }, at) => contexts.findIndex((other) => other.folder === folder) === at,
  )
  const keys: string[] = []
  const [first, ...others] = distinct.map((context) => {
    refuseUnusable(context.folder, environment)
    const key = keyOf(context.folder, keys)
    keys.push(key)
    return { served: servedProject(context, key, environment), context }
  })
  if (!first) throw new Error('there is always a project')
  return [first, ...others]
}

/** The projects of a named database: first those of this machine's folders, then those with a name. */
export interface DatabaseProjects {
  /** Changes while serving: new and renamed projects need no restart. */
  readonly served: readonly ServedProject[]
  readonly open: readonly OpenProject[]
  /** The reserved project with people and projects; null if the database belongs to a folder. */
  readonly own: OpenProject | null
  /** Looks for new projects. */
  readonly refresh: () => Promise<readonly OpenProject[]>
}

interface FolderProject {
  readonly context: Context
  served: ServedProject
  id: string
}

interface DatabaseProject {
  readonly context: Context
  served: ServedProject
}

/** Opens every project of a database. There may be none yet. */
export async function openDatabaseProjects(request: ProjectsRequest): Promise<DatabaseProjects> {
  const { environment, workingFolder, reachesPrivate = false } = request
  const openProject = (id: string, name: string): OpenProject => {
    const elsewhere = { id, name }
    const context = openContext({ actor: nobody, environment, workingFolder, elsewhere, reachesPrivate })
    return { served: { ...servedProject(context, name, environment), name, folder: '' }, context }
  }
  const own = openProject(serverProject, serverProject)
  const ofFolders = foldersOf(request).map(({ context, served: project }): FolderProject => {
    return { context, served: project, id: '' }
  })
  const others = new Map<string, DatabaseProject>()
  const all: ServedProject[] = []
  const open: OpenProject[] = [...ofFolders]
  const findProjects = async (): Promise<readonly OpenProject[]> => {
    for (const project of ofFolders) if (project.id === '') project.id = await idOf(project.context)
    const listed = await own.context.store.view(({ identities }) => identities.projects())
    const names = new Map(listed.filter(({ named }) => named).map(({ id, name }) => [id, name]))
    const isOfFolder = new Set(ofFolders.map(({ id }) => id))
    const added: OpenProject[] = []
    for (const [id, name] of names) {
      const other = others.get(id)
      // Callers identify a project by its object: a renamed project is a new object.
      if (other && other.served.key !== name) other.served = { ...other.served, key: name, name }
      if (other || isOfFolder.has(id)) continue
      const project = openProject(id, name)
      others.set(id, project)
      added.push(project)
    }
    open.push(...added)
    for (const project of ofFolders) {
      const { key, folder } = project.served
      const taken = [...names].flatMap(([id, name]) => (id === project.id ? [] : [name]))
      const name = names.get(project.id) ?? freeKey(key, taken, folder)
      if (name !== key) project.served = { ...project.served, key: name }
    }
    // Sorted by name, so that every server of the database has the same first project.
    const now = [...ofFolders, ...[...names.keys()].flatMap((id) => others.get(id) ?? [])]
    all.splice(0, all.length, ...now.map((project) => project.served))
    return added
  }
  const refresh = runInSequence(findProjects)
  await refresh()
  return { served: all, open, own, refresh }
}

/** The id of a folder's project; empty if it has no record or cannot be read now. */
function idOf({ store }: Context): Promise<string> {
  return store.view(({ identities }) => Promise.resolve(identities.project))
}

/** A request during a refresh waits for the next one, which sees everything recorded before the request. */
function runInSequence<Answer>(run: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<Answer> | null = null
  let next: Promise<Answer> | null = null
  const begin = (): Promise<Answer> => {
    next = null
    const current = run().finally(() => {
      if (running === current) running = null
    })
    running = current
    return current
  }
  return () => {
    if (running === null) return begin()
    next ??= running.then(begin, begin)
    return next
  }
}

/** The named folders, else the working folder if it is a project. */
function foldersOf(request: ProjectsRequest): readonly OpenProject[] {
  const { environment, named } = request
  const isNamed = named.length > 0 || firstSetVariable(environment, ['WAYMARK_PROJECT']) !== undefined
  return isNamed || isProject(resolve(request.workingFolder), environment) ? openProjects(request) : []
}

/** Whether a folder is a work tree or has a record; others are not served by default. */
function isProject(folder: string, environment: Environment): boolean {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  if (unusableFolder(folder, home) !== null) return false
  return enclosingTree(folder, home) !== null || existsSync(join(folder, '.waymark'))
}

function freeKey(key: string, taken: readonly string[], folder: string): string {
  return taken.includes(key) ? `${key}-${fingerprint(folder).slice(0, 8)}` : key
}

function folderOf(named: string | undefined, workingFolder: string): string | undefined {
  if (named === undefined) return undefined
  const folder = resolve(workingFolder, named)
  if (existsSync(folder) && statSync(folder).isDirectory()) return realpathSync(folder)
  throw new Failure('NOT_FOUND', `There is no folder ${named}.`, {
    reason: 'folder_not_found',
    hint: `It was looked for at ${folder}.`,
  })
}

function refuseUnusable(folder: string, environment: Environment): void {
  const refusal = unusableFolder(folder, firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir())
  if (refusal) throw refusal
}

/** The folder's name; equal names get a suffix from the path, so that keys stay stable. */
function keyOf(folder: string, taken: readonly string[]): string {
  const name = basename(folder)
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return freeKey(name === '' ? 'project' : name, taken, folder)
}

/** Remote callers may name only files of the project; relative paths start in its folder. */
export function withFolderIsolation(context: Context): Context {
  const { folder } = context
  return {
    ...context,
    planFiles: deferredPlanFiles(folder, folder),
    processFiles: deferredProcessFiles(folder, folder, true),
  }
}

function servedProject(context: Context, key: string, environment: Environment): ServedProject {
  const { folder } = context
  const shared = withFolderIsolation(context)
  return {
    key,
    name: basename(folder),
    folder,
    clients: () => clientsOf(folder),
    setup: async () => (await import('../setup/health.ts')).machineSetup(folder, environment),
    contextOf: (actor) => ({ ...shared, actor }),
  }
}

const traces: readonly (readonly [string, readonly string[]])[] = [
  ['Claude Code', ['.claude', 'CLAUDE.md', '.mcp.json']],
  ['Cursor', ['.cursor', '.cursorrules']],
  ['Codex', ['.codex']],
  ['VS Code', ['.vscode', '.github/copilot-instructions.md']],
]

/** The clients with files in a project, the likeliest first. */
function clientsOf(folder: string): readonly string[] {
  return traces
    .filter(([, paths]) => paths.some((path) => existsSync(join(folder, path))))
    .map(([name]) => name)
}
