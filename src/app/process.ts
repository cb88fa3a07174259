import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { errorCode } from '../kernel/failure.ts'
import { endWork } from '../kernel/process-end.ts'

/**
 * The start time of a process, as the system formats it; null if there is no such process, `unknown` if the system does
 * not report it. It tells processes with a reused id apart.
 */
export function processStart(pid: number): string | null {
  if (!isProcessAlive(pid)) return null
  try {
    if (process.platform === 'linux') return startOnLinux(pid)
    if (process.platform === 'win32') return 'unknown'
    const { execFileSync } = process.getBuiltinModule('node:child_process') // loaded where it is used: start-up is quicker
    const output = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      timeout: 2_000,
    })
    return output.trim() || 'unknown'
  } catch {
    return isProcessAlive(pid) ? 'unknown' : null
  }
}

/**
 * For a process that streams much and keeps little: V8 reserves less for new objects, and collects garbage earlier.
 * The flags are read at each collection.
 */
export function keepHeapSmall(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8') // loaded where it is used: start-up is quicker
  for (const flag of ['--semi-space-growth-factor=1', '--optimize-for-size', '--heap-growing-percent=30'])
    setFlagsFromString(flag)
}

/** The start in clock ticks since boot, with the id of the boot. */
function startOnLinux(pid: number): string {
  // The name in brackets may contain spaces and brackets; the start is the 20th field after it.
  const words = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return `${boot} ${words?.[19] ?? ''}`
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM' // it exists, and belongs to another user
  }
}

/** This process, for the file of its server. */
export function thisProcess() {
  return { pid: process.pid, started: processStart(process.pid) ?? 'unknown' }
}

let elsewhere = 0

/** Ignores Ctrl-C while another program has the terminal. */
export async function withoutInterrupt<Result>(run: () => Promise<Result>): Promise<Result> {
  const stay = () => undefined
  process.on('SIGINT', stay)
  elsewhere += 1
  try {
    return await run()
  } finally {
    elsewhere -= 1
    process.off('SIGINT', stay)
  }
}

/** Milliseconds until running work is aborted, and from then until the process ends. */
const patience = 1_000
const untilExit = 700

/** Ends the process even if unneeded work still runs, such as reading a large file. */
export function exitAfterGrace(): void {
  setTimeout(() => endNow(), patience).unref()
}

/** Aborts running work, gives it a short time to clean up, and ends the process. */
function endNow(code?: number): void {
  endWork()
  setTimeout(() => process.exit(code), untilExit).unref()
}

let isAwaited = false

/** Ends the process and its children at a signal, unless its command handles signals itself. */
export function endOnSignal(): void {
  const counts = (name: NodeJS.Signals) => !(isAwaited || (elsewhere > 0 && name === 'SIGINT'))
  void firstSignal(['SIGINT', 'SIGTERM'], counts).then((name) => {
    const code = 128 + constants.signals[name]
    process.on('exit', () => {
      process.exitCode = code
    })
    endNow(code)
  })
}

/** Resolves with the signal that ends the process. A second signal after half a second ends it at once. */
export function endSignal(names: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM']): Promise<NodeJS.Signals> {
  isAwaited = true
  return firstSignal(names, () => true)
}

// Ctrl-C may arrive twice: from the terminal, and from a parent process that forwards it.
const onePress = 500

function firstSignal(
  names: readonly NodeJS.Signals[],
  counts: (name: NodeJS.Signals) => boolean,
): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let first: number | null = null
  for (const name of names) {
    process.on(name, () => {
      if (!counts(name)) return
      first ??= performance.now()
      if (performance.now() - first > onePress) process.exit(128 + constants.signals[name])
      resolve(name)
    })
  }
  return promise
}
