import { basename, posix, win32 } from 'node:path'

/** Everything that a plan depends on besides the files. */
export interface SetupContext {
  readonly platform: string
  /** Absolute path of the user's home. */
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The project's folder, absolute. */
  readonly folder: string
  readonly program: ProgramCopy
}

/** The copy of Waymark that runs, as a user's file names it. */
export interface ProgramCopy {
  /** Absolute paths. */
  readonly node: string
  readonly bin: string
  readonly capture: string
  readonly version: string
  /** Whether programs that are started elsewhere find `waymark` on the PATH. */
  readonly isNamed: boolean
}

export type SetupScope = 'project' | 'user'

export interface SetupPaths {
  readonly project: (...parts: readonly string[]) => string
  readonly home: (...parts: readonly string[]) => string
  /** `~/.config`, and `%APPDATA%` on Windows. */
  readonly config: (...parts: readonly string[]) => string
  /** Where programs of a desktop keep their settings. */
  readonly application: (...parts: readonly string[]) => string
  /** `%LOCALAPPDATA%`; null elsewhere. */
  readonly local: ((...parts: readonly string[]) => string) | null
}

export function setupPathsOf({ platform, home, environment, folder }: SetupContext): SetupPaths {
  const path = platform === 'win32' ? win32 : posix
  const folderOf = (variable: string, ...otherwise: readonly string[]) =>
    environment[variable] || path.join(home, ...otherwise)
  const appData = () => folderOf('APPDATA', 'AppData', 'Roaming')
  const local = () => folderOf('LOCALAPPDATA', 'AppData', 'Local')
  const applications =
    platform === 'win32'
      ? appData
      : () => path.join(home, ...(platform === 'darwin' ? ['Library', 'Application Support'] : ['.config']))
  return {
    project: (...parts) => path.join(folder, ...parts),
    home: (...parts) => path.join(home, ...parts),
    config: (...parts) => path.join(platform === 'win32' ? appData() : path.join(home, '.config'), ...parts),
    application: (...parts) => path.join(applications(), ...parts),
    local: platform === 'win32' ? (...parts) => path.join(local(), ...parts) : null,
  }
}

/** A folder from an environment variable such as `CODEX_HOME`, else the default. */
export function folderNamed(context: SetupContext, variable: string, otherwise: string): string {
  return context.environment[variable] || otherwise
}

/** A name for an entry that is one project's, in a file of several. */
export function folderName({ folder, platform }: Pick<SetupContext, 'folder' | 'platform'>): string {
  const name = platform === 'win32' ? win32.basename(folder) : basename(folder)
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'project'
  )
}
