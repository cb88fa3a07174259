import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { errorCode } from '../../kernel/failure.ts'

/**
 * The name of the shell around every command of a guard. It stays in the system's process table even if the command drops
 * variables or removes files.
 */
export const gateMark = 'waymark-gate-command'

/** The variable that is set for every command of a guard. */
export const gateVariable = 'WAYMARK_RUNNER'

interface RunningProcess {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Null if the system does not report it. */
  readonly session: number | null
  /** Whether it is the shell around a command, or was started with that shell's variable. */
  readonly isGate: boolean
}

type ProcessLookup = (pid: number) => RunningProcess | null

/** The two ports of a connection between two processes of this machine, as the one that was called sees them. */
export interface LocalConnection {
  readonly localPort?: number | undefined
  readonly remotePort?: number | undefined
}

/**
 * Whether a process runs inside a guard's command: below its shell, in its group or session, or on Linux with its
 * variable. A daemon that left all of these is not recognized; on Windows no process is.
 */
export function isInsideCommand(pid: number): boolean {
  return isInside(pid, processes())
}

/**
 * Which of these connections have a calling end that is held by a process inside a guard's command. It reads the table of
 * processes synchronously, once for all of them: `callers-worker.ts` runs it on a thread of its own.
 */
export function connectionsFromCommands(connections: readonly LocalConnection[]): readonly boolean[] {
  const lookup = processes()
  if (process.platform !== 'linux') {
    return connections.map((connection) =>
      holdersByPort(connection).some((pid) => pid !== process.pid && isInside(pid, lookup)),
    )
  }
  // Mostly no command runs: then the system's tables of sockets, which take longest to read, are not needed.
  const insideSockets = new Set(pids().flatMap((pid) => (isInside(pid, lookup) ? socketsOf(pid) : [])))
  if (insideSockets.size === 0) return connections.map(() => false)
  const sockets = callingSockets(connections)
  return sockets.map((callerSockets) => [...callerSockets].some((socket) => insideSockets.has(socket)))
}

function isInside(pid: number, lookup: ProcessLookup): boolean {
  const seen = new Set<number>()
  for (
    let ancestor = lookup(pid);
    ancestor !== null && !seen.has(ancestor.pid);
    ancestor = lookup(ancestor.parent)
  ) {
    seen.add(ancestor.pid)
    if ([ancestor.pid, ancestor.group, ancestor.session ?? ancestor.pid].some((id) => lookup(id)?.isGate))
      return true
  }
  return false
}

/** Looks up the current processes, each once. */
function processes(): ProcessLookup {
  if (process.platform === 'win32') return () => null
  if (process.platform !== 'linux') return listedProcesses()
  const cache = new Map<number, RunningProcess | null>()
  return (pid) => {
    const found = cache.get(pid)
    if (found !== undefined) return found
    const current = readProcess(pid)
    cache.set(pid, current)
    return current
  }
}

function readProcess(pid: number): RunningProcess | null {
  const stat = textOf(`/proc/${pid}/stat`)
  // The name in parentheses may contain anything, also parentheses.
  const [, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (parent === undefined) return null
  // The shell around a command is always `sh`: the words of other programs need not be read.
  const isShell = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')) === 'sh'
  const isGate =
    (isShell && textOf(`/proc/${pid}/cmdline`).split('\0')[3] === gateMark) || hasGateVariable(pid)
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), isGate }
}

/** The environment at the start, which a process cannot change later. Empty for other users' processes. */
function hasGateVariable(pid: number): boolean {
  const variables = `\0${textOf(`/proc/${pid}/environ`)}`
  return variables.includes(`\0${gateVariable}=`)
}

/** The list of `ps`, for systems without `/proc`. */
function listedProcesses(): ProcessLookup {
  const listed = new Map<number, RunningProcess>()
  for (const line of programOutputLines('ps', ['-A', '-ww', '-o', 'pid=,ppid=,pgid=,args='])) {
    const [, pid, parent, group, args = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined) continue
    const isGate = args.startsWith('/bin/sh -c ') && args.includes(` ${gateMark} `)
    const ids = { pid: Number(pid), parent: Number(parent), group: Number(group) }
    listed.set(ids.pid, { ...ids, session: null, isGate })
  }
  return (pid) => listed.get(pid) ?? null
}

/** The sockets at the other end of each connection, as links of open files name them. */
function callingSockets(connections: readonly LocalConnection[]): readonly ReadonlySet<string>[] {
  const sockets = connections.map(() => new Set<string>())
  const wanted = new Map<string, Set<string>[]>()
  for (const [index, { localPort, remotePort }] of connections.entries()) {
    const ports = `${remotePort} ${localPort}`
    wanted.set(ports, [...(wanted.get(ports) ?? []), ...sockets.slice(index, index + 1)])
  }
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => textOf(table).split('\n').slice(1))
  for (const line of lines) {
    const [, own = '', other = '', , , , , , , inode = '0'] = line.trim().split(/\s+/)
    for (const found of wanted.get(`${portOf(own)} ${portOf(other)}`) ?? []) found.add(`socket:[${inode}]`)
  }
  return sockets
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)
}

function socketsOf(pid: number): readonly string[] {
  return entryNamesIn(`/proc/${pid}/fd`).map((file) => linkOf(`/proc/${pid}/fd/${file}`))
}

function pids(): readonly number[] {
  return entryNamesIn('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

function holdersByPort({ remotePort }: LocalConnection): readonly number[] {
  if (process.platform === 'win32' || remotePort === undefined) return []
  return programOutputLines('lsof', ['-nP', `-iTCP:${remotePort}`, '-Fp']).flatMap((line) =>
    /^p\d+$/.test(line) ? [Number(line.slice(1))] : [],
  )
}

function programOutputLines(program: string, words: readonly string[]): readonly string[] {
  // Every server checks this before its first answer; with /proc it needs no other program.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const { stdout } = spawnSync(program, words, { encoding: 'utf8', timeout: 2_000, maxBuffer: 64_000_000 })
  return (stdout ?? '').split('\n')
}

// A process may end while it is read, and those of other users are hidden: both count as absent.
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function entryNamesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Names this process among all that may share a database: `host:pid`. */
export function runnerName(): string {
  return `${hostname()}:${process.pid}`
}

/** Whether the process of this name still runs; null for one on another machine. */
export function isRunnerAlive(runner: string): boolean | null {
  const colon = runner.lastIndexOf(':')
  if (runner.slice(0, colon) !== hostname()) return null
  const pid = Number(runner.slice(colon + 1))
  // 0 and below name groups of processes.
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Another user's process may not be signalled, and runs.
    return errorCode(error) === 'EPERM'
  }
}
