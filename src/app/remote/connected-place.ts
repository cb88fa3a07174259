import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { stateFolder } from '../../kernel/files/state-folder.ts'
import { type ConnectedServer, connectedServer } from '../../remote/machine/known-servers.ts'
import { type Environment, firstSetVariable } from '../settings/environment.ts'
import { enclosingTree, mainTree, projectFolder, projectRoot } from '../settings/places.ts'
import { refuseForeign } from '../settings/regular-paths.ts'

export interface ConnectOptions {
  /** The value of `--project`. */
  readonly project?: string | undefined
  /** The value of `--server`. */
  readonly server?: string | undefined
  readonly environment: Environment
  readonly workingFolder: string
}

/** Where a project is kept, and what is kept of it here. */
export interface RemoteProjectLocation {
  readonly server: ConnectedServer
  /** The project's root on this machine. */
  readonly root: string
  /** Where this user's servers and tokens are kept. */
  readonly folder: string
}

/** The server of a project, found without git; null where this machine keeps the project itself. */
export function connectedPlace(connecting: ConnectOptions): RemoteProjectLocation | null {
  const { server, environment } = connecting
  const root = rootOf(connecting)
  const folder = remoteStateFolder(environment)
  // A committed address would send this project's files to a server that its user knows for another one.
  refuseForeign(root)
  const found = connectedServer({ flag: server, environment, root, folder })
  return found && { server: found, root, folder }
}

/** Whether `--project` names a project, not a folder: a path that exists is a folder wherever it may name both. */
export function isProjectName({
  project,
  workingFolder,
}: Pick<ConnectOptions, 'project' | 'workingFolder'>): boolean {
  return project !== undefined && /^[\w-]+$/.test(project) && !existsSync(resolve(workingFolder, project))
}

/** The server of this folder, and the project of it that `--project` names; null in a folder without a server. */
export function namedPlaceAtServer(connecting: ConnectOptions): RemoteProjectLocation | null {
  if (!isProjectName(connecting)) return null
  const place = connectedPlace({ ...connecting, project: undefined })
  return place && { ...place, server: { ...place.server, project: connecting.project ?? null } }
}

/** The project's root: where `.waymark` lies, whichever of its work trees one is in. */
export function rootOf({ project, environment, workingFolder }: ConnectOptions): string {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const request = { flag: project, environment, workingFolder }
  const folder = projectFolder(request, (start) => enclosingTree(start, home))
  return projectRoot(mainTree(realOf(enclosingTree(folder, home) ?? folder)))
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** Where the user's servers are kept: never in a project, where a token could be committed. */
export function remoteStateFolder(environment: Environment): string {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  return join(stateFolder({ platform: process.platform, environment, home }), 'machine')
}
