import { posix, win32 } from 'node:path'
import type { Client } from './client.ts'
import { setupClients } from './setup-clients.ts'
import type { SetupContext } from './setup-context.ts'

export interface DetectedClient {
  readonly client: Client
  /** The file or program that it was detected by. */
  readonly sign: string
}

/** Detects clients by the project's files, the user's files, then programs. Those of the project come first. */
export function detectClients(
  context: SetupContext,
  exists: (path: string) => boolean,
): readonly DetectedClient[] {
  const found = setupClients.flatMap((client) => {
    const { project, user, programs } = client.signs(context)
    const paths = [...project, ...user].find(exists)
    const sign = paths ?? programs.flatMap((name) => programPaths(name, context)).find(exists)
    return sign === undefined ? [] : [{ client, sign, isProjects: project.includes(sign) }]
  })
  return [...found.filter(({ isProjects }) => isProjects), ...found.filter(({ isProjects }) => !isProjects)]
}

/** The paths where a program of this name could be. */
export function programPaths(
  name: string,
  { platform, environment }: Pick<SetupContext, 'platform' | 'environment'>,
): readonly string[] {
  const isWindows = platform === 'win32'
  const path = isWindows ? win32 : posix
  const folders = (environment['PATH'] ?? environment['Path'] ?? '').split(path.delimiter).filter(Boolean)
  const names = isWindows ? [`${name}.exe`, `${name}.cmd`] : [name]
  return folders.flatMap((folder) => names.map((file) => path.join(folder, file)))
}
