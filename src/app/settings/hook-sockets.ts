import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { hooksBase } from '../../sessions/capture/captured-project.ts'
import { hashText } from '../../sessions/capture/hash.ts'
import { version } from '../program.ts'
import type { Environment } from './environment.ts'

/** The user's folder for sockets of servers that answer hooks, and how those of a project begin. */
export function hookSocketPlace(root: string, environment: Environment) {
  return { folder: hooksBase(environment), prefix: `${hashText(root)}-` }
}

/** What a hook and a server that answers it have in common: the version, the record, git, and where its settings are. */
export function hookGreeting(database: string, environment: Environment): string {
  const { dev, ino } = statSync(database)
  const {
    HOME: home,
    XDG_CONFIG_HOME: configuration,
    GIT_CONFIG_GLOBAL: global,
    PATH: path = '',
  } = environment
  const git = path.split(delimiter).find((folder) => existsSync(join(folder, 'git')))
  return JSON.stringify([version, database, `${dev}:${ino}`, git, home, configuration, global])
}

/** The sockets of the servers that answer hooks of a project. */
export function hookSockets(root: string, environment: Environment): readonly string[] {
  const { folder, prefix } = hookSocketPlace(root, environment)
  try {
    const names = readdirSync(folder).filter((name) => name.startsWith(prefix) && name.endsWith('.sock'))
    return names.length > 0 && isOnlyForUser(folder) ? names.map((name) => join(folder, name)) : []
  } catch {
    return []
  }
}

/** Whether only this user can enter a folder: others could put a socket of theirs in it, or ask one of ours. */
export function isOnlyForUser(folder: string): boolean {
  const { uid, mode } = lstatSync(folder)
  return uid === process.getuid?.() && (mode & 0o077) === 0
}
