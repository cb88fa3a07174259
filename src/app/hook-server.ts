import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../kernel/operations/operation.ts'
import { processEnd } from '../kernel/process-end.ts'
import { isAbandoned, serveHooks } from '../surfaces/hook/hook-socket.ts'
import type { Environment } from './settings/environment.ts'
import { hookGreeting, hookSocketPlace, hookSockets, isOnlyForUser } from './settings/hook-sockets.ts'
import { databasePlace, rootWithoutGit, serverDatabase } from './settings/project-location.ts'

/** The system's limit for the path of a socket is 104 bytes at least. */
const maxPathBytes = 100

/** The project whose hooks are answered. */
interface HookServerProject {
  readonly root: string
  /** The file of its record. */
  readonly database: string
}

/** The project of a server, once it has a record in a file. */
export function projectOfHooks(folder: string, environment: Environment): HookServerProject | null {
  if (process.platform === 'win32' || serverDatabase(environment)) return null
  const root = rootWithoutGit({ flag: folder, environment, workingFolder: folder })
  const { file: database } = databasePlace(environment, { root, working: process.cwd() })
  return existsSync(database) ? { root, database } : null
}

/** Answers hooks of a project on a socket that only this user can reach, until its end. Null where that is not possible. */
async function listenToHooks(
  context: Context,
  environment: Environment,
  { root, database }: HookServerProject,
): Promise<(() => void) | null> {
  const { folder, prefix } = hookSocketPlace(root, environment)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = `${prefix}${crypto.randomUUID().slice(0, 8)}`
  const path = join(folder, `${name}.sock`)
  if (!isOnlyForUser(folder) || Buffer.byteLength(path) > maxPathBytes) return null
  // A server that was killed leaves its socket behind.
  for (const other of hookSockets(root, environment))
    if (await isAbandoned(other)) rmSync(other, { force: true })
  // Found only once it listens: a socket that refuses is an abandoned one to others.
  const early = join(folder, `${name}.new`)
  const server = await serveHooks(early, hookGreeting(database, environment), async (request) => {
    const { answerHook } = await import('./hook-answer.ts')
    return answerHook(context.store, { environment, root, request })
  })
  renameSync(early, path)
  const stop = () => {
    rmSync(path, { force: true })
    server.close()
  }
  // A signal ends the process without the end of its jobs.
  processEnd.addEventListener('abort', stop)
  return stop
}

/** Starts to answer hooks of a project; null while it has no record. Where it cannot, hooks judge by themselves. */
export async function answerHooks(context: Context, environment: Environment): Promise<(() => void) | null> {
  const project = projectOfHooks(context.folder, environment)
  if (project === null) return null
  const stop = await listenToHooks(context, environment, project).catch(() => null)
  return () => stop?.()
}
