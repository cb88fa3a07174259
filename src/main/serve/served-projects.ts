import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import type { Actor } from '../../domain/actor.ts'
import { Failure } from '../../domain/failure.ts'
import type { Context } from '../../operations/context.ts'
import { fingerprint } from '../../storage/fingerprint.ts'
import type { ServedProject } from '../../surfaces/http/serving.ts'
import { deferredPlanFiles } from '../deferred-plan-files.ts'
import { deferredProcessFiles } from '../deferred-process-files.ts'
import { openContext } from '../open-context.ts'
import { type Environment, firstSet } from '../settings/environment.ts'
import { unusableFolder } from '../unusable-folder.ts'
import { clientsOf } from './clients-of.ts'
import { confinedPlanFiles, confinedProcessFiles } from './confined-files.ts'

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
function served(context: Context, key: string): ServedProject {
  const { folder } = context
  const shared: Context = {
    ...context,
    planFiles: confinedPlanFiles(deferredPlanFiles(folder), folder),
    processFiles: confinedProcessFiles(deferredProcessFiles(folder, folder), folder),
  }
  return {
    key,
    name: basename(folder),
    folder,
    clients: () => clientsOf(folder),
    contextOf: (actor) => ({ ...shared, actor }),
  }
}
