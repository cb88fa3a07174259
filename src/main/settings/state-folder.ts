import { basename, join, posix, win32 } from 'node:path'
import type { Fingerprint } from '../../ports/fingerprint.ts'
import type { Environment } from './environment.ts'

export interface Machine {
  readonly platform: string
  readonly environment: Environment
  /** Absolute path of the user's home. */
  readonly home: string
}

/** Where programs of this platform keep what is theirs: private snapshots are kept outside the work tree. */
export function stateFolder({ platform, environment, home }: Machine): string {
  if (platform === 'win32') {
    return win32.join(environment['LOCALAPPDATA'] ?? win32.join(home, 'AppData', 'Local'), 'waymark')
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'waymark')
  return posix.join(stateHome(environment, home), 'waymark')
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
 * The part of the state folder that belongs to one project and its database: tidying up removes what that database does
 * not name, so two of them must never share a folder.
 */
export function projectState(
  state: string,
  identity: { readonly folder: string; readonly database: string | null },
  fingerprint: Fingerprint,
): string {
  return join(state, 'projects', folderName(identity.folder, fingerprint(identity)))
}

/** Where it is kept how far the journal of a project had come, whichever of its work trees is used. */
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

// The XDG specification: a relative path is invalid and to be ignored.
function stateHome(environment: Environment, home: string): string {
  const named = environment['XDG_STATE_HOME']
  return named?.startsWith('/') ? named : posix.join(home, '.local', 'state')
}
