import { resolve } from 'node:path'
import { type Environment, firstSet } from './environment.ts'

export interface ProjectRequest {
  /** The value of `--project`. */
  readonly flag?: string | undefined
  readonly environment: Environment
  readonly workingFolder: string
}

/** What clients call the folder that they work in. */
const clientVariables = ['CLAUDE_PROJECT_DIR', 'CURSOR_PROJECT_DIR', 'GEMINI_PROJECT_DIR']

/** The folder that a process works in: the one that is named, else the top of the enclosing work tree, else its own. */
export function projectFolder(
  request: ProjectRequest,
  enclosingTree: (folder: string) => string | null,
): string {
  const { flag, environment, workingFolder } = request
  const named =
    flag ?? firstSet(environment, ['WAYMARK_PROJECT', ...clientVariables]) ?? firstOfSeveral(environment)
  return named === undefined ? (enclosingTree(workingFolder) ?? workingFolder) : resolve(workingFolder, named)
}

// Cursor names all folders of a workspace, separated by commas; the first one is where its agent begins.
function firstOfSeveral(environment: Environment): string | undefined {
  return environment['WORKSPACE_FOLDER_PATHS']?.split(',')[0] || undefined
}
