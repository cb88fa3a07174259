import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { errorCode } from '../kernel/failure.ts'
import { endWork } from '../kernel/process-end.ts'

/**
 * When a process began, in words of the system that stay the same while it runs; null where there is no such process,
 * and `unknown` where the system does not tell. A number of a process is given again to another one.
 */
export function processStart(pid: number): string | null {
  if (!isProcessAlive(pid)) return null
  try {
    if (process.platform === 'linux') return startOnLinux(pid)
    if (process.platform === 'win32') return 'unknown'
    const { execFileSync } = process.getBuiltinModule('node:child_process') // loaded where it is used: start-up is quicker
    const said = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      timeout: 2_000,
    })
    return said.trim() || 'unknown'
  } catch {
    return isProcessAlive(pid) ? 'unknown' : null
  }
}

/** Clock ticks since the machine began, with which run of the machine that is. */
function startOnLinux(pid: number): string {
  // The name, in brackets, may hold spaces and brackets itself; the start is the 22nd word, the 20th after it.
  const words = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return `${boot} ${words?.[19] ?? ''}`
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM' // it is there, and another user's
  }
}

/** This process, as its server's file tells of it. */
export function thisProcess() {
  return { pid: process.pid, started: processStart(process.pid) ?? 'unknown' }
}

let elsewhere = 0

/** Runs while another program has the terminal: Ctrl-C is for that one. */
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

/** Milliseconds until what still goes on is refused, and from then until the process ends. */
const patience = 1_000
const untilExit = 700

/** Ends the process although something still goes on that nobody waits for, such as reading a large file. */
export function exitAfterGrace(): void {
  setTimeout(() => endNow(), patience).unref()
}

/** Refuses what goes on, gives it a moment to undo what is half done, and ends the process. */
function endNow(code?: number): void {
  endWork()
  setTimeout(() => process.exit(code), untilExit).unref()
}

let isAwaited = false

/** Ends the process at a signal, with all that it started, unless its command waits for one by itself. */
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

/** Resolves with the signal by which the process is told to end. Told again half a second later or more, it ends at once. */
export function endSignal(names: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM']): Promise<NodeJS.Signals> {
  isAwaited = true
  return firstSignal(names, () => true)
}

// Ctrl-C may arrive twice: from the terminal, and from a process between it and this one that hands it on.
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
