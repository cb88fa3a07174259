import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { stateFolder } from '../../kernel/files/state-folder.ts'
import {
  baseOf,
  type ConnectedServer,
  connectedServer,
  serverAddress,
} from '../../remote/machine/known-servers.ts'
import { type Environment, firstSetVariable } from '../settings/environment.ts'
import { enclosingTree, mainTree, projectFolder, projectRoot } from '../settings/project-location.ts'
import { refuseForeign } from '../settings/regular-paths.ts'

export interface ConnectOptions {
  /** The value of `--project`. */
  readonly project?: string | undefined
  /** The value of `--server`. */
  readonly server?: string | undefined
  readonly environment: Environment
  readonly workingFolder: string
}

/** The location of a project at a server and of its local files. */
export interface RemoteProjectLocation {
  readonly server: ConnectedServer
  /** The project's root on this machine. */
  readonly root: string
  /** The folder of this user's servers and tokens. */
  readonly folder: string
  /** Its user's name for this machine. */
  readonly machineName: string | undefined
}

/** The server of a project, found without git; null for a local project. */
export function connectedPlace(connecting: ConnectOptions): RemoteProjectLocation | null {
  const { server, environment } = connecting
  const root = remoteRootOf(connecting)
  const folder = remoteStateFolder(environment)
  // A committed address could send this project's files to a server that its user connected for another one.
  refuseForeign(root)
  const found = connectedServer({ flag: server, environment, root, folder })
  const machineName = firstSetVariable(environment, ['WAYMARK_MACHINE'])
  return found && { server: found, root, folder, machineName }
}

/** The address of the project's record at a server; null for a local project. */
export function recordAddress(connecting: ConnectOptions): string | null {
  const { server: flag, environment } = connecting
  const address = serverAddress({ flag, environment, root: remoteRootOf(connecting) })
  return address && baseOf(address)
}

/** Whether `--project` is a project's name: a path that exists is always a folder. */
export function isProjectName({
  project,
  workingFolder,
}: Pick<ConnectOptions, 'project' | 'workingFolder'>): boolean {
  return project !== undefined && /^[\w-]+$/.test(project) && !existsSync(resolve(workingFolder, project))
}

/** The server of this folder with the project that `--project` names; null without a server. */
export function namedPlaceAtServer(connecting: ConnectOptions): RemoteProjectLocation | null {
  if (!isProjectName(connecting)) return null
  const place = connectedPlace({ ...connecting, project: undefined })
  return place && { ...place, server: { ...place.server, project: connecting.project ?? null } }
}

/** The project's root with `.waymark`, the same for all its work trees. */
export function remoteRootOf({ project, environment, workingFolder }: ConnectOptions): string {
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

/** The folder of the user's servers, outside any project: a token must not be committed. */
export function remoteStateFolder(environment: Environment): string {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  return join(stateFolder({ platform: process.platform, environment, home }), 'machine')
}
