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
  const top = enclosingTree(here, home) ?? recordedFolder(here, home) ?? namedFolder(environment, here)
  const named = firstSet(environment, ['WAYMARK_PROJECT'])
  const project = named === undefined ? top : namedFolder(environment, here)
  const root = projectRoot(mainTree(enclosingTree(project, home) ?? project))
  return { top, root, database: databasePlace(environment, { root, working }) }
}

/** The nearest folder upwards with a record of its own: a project without git. */
function recordedFolder(folder: string, home: string): string | null {
  const parent = dirname(folder)
  if (folder === home || parent === folder) return null
  return existsSync(join(folder, '.waymark', 'waymark.db')) ? folder : recordedFolder(parent, home)
}

function namedFolder(environment: Environment, here: string): string {
  const folder = projectFolder({ environment, workingFolder: here }, () => null)
  return existsSync(folder) ? realpathSync.native(folder) : folder
}
