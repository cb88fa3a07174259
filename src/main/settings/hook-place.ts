import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { projectRoot } from '../project-root.ts'
import { type DatabasePlace, databasePlace } from './database-place.ts'
import { enclosingTree } from './enclosing-tree.ts'
import { type Environment, firstSet } from './environment.ts'
import { mainTree } from './main-tree.ts'
import { projectFolder } from './project-folder.ts'

export interface HookPlaces {
  /** The top of the work tree that the hook acts for. */
  readonly top: string
  readonly root: string
  readonly database: DatabasePlace
}

/** What a hook's folder belongs to, found without git: a hook has no time to start another process. */
export function hookPlaces(
  environment: Environment,
  { folder, home, working }: { readonly folder: string; readonly home: string; readonly working: string },
): HookPlaces {
  const here = realpathSync.native(folder)
  const named = namedFolder(environment, working)
  // An agent that stands in no project at all still works for the one that its client opened.
  const top = enclosingTree(here, home) ?? recordedFolder(here, home) ?? (named ? topOf(named, home) : here)
  const isChosen = named !== null && firstSet(environment, ['WAYMARK_PROJECT']) !== undefined
  const root = projectRoot(mainTree(isChosen ? topOf(named, home) : top))
  return { top, root, database: databasePlace(environment, { root, working }) }
}

function topOf(folder: string, home: string): string {
  return enclosingTree(folder, home) ?? folder
}

/** The nearest folder upwards with a record of its own: a project without git. */
function recordedFolder(folder: string, home: string): string | null {
  const parent = dirname(folder)
  if (folder === home || parent === folder) return null
  return existsSync(join(folder, '.waymark', 'waymark.db')) ? folder : recordedFolder(parent, home)
}

/** The folder that the person or the client names, if there is such a folder. */
function namedFolder(environment: Environment, working: string): string | null {
  const nobody = ''
  const folder = projectFolder({ environment, workingFolder: working }, () => nobody)
  return folder !== nobody && existsSync(folder) ? realpathSync.native(folder) : null
}
