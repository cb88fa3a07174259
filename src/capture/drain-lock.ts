import { linkSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../domain/failure.ts'

/** Who drains, so that one process does for a project. */
export interface DrainLock {
  /** Shows hooks that this process is at it. */
  touch(): void
  release(): void
}

/** When a process began, in words of the system; null where there is no such process. */
export type ProcessStart = (pid: number) => string | null

// Who takes a dead process's lock away does it alone; one that was killed meanwhile is waited for no longer.
const longestTaking = 5000
const longestUntouched = 60_000

/** The lock of a project, or null where another process that lives has it. */
export function takeDrainLock(root: string, processStart: ProcessStart): DrainLock | null {
  const file = join(root, '.waymark', 'drain.lock')
  const own = JSON.stringify({ pid: process.pid, started: processStart(process.pid) ?? 'unknown' })
  if (!placed(file, own)) {
    if (isHeld(file, processStart) || !takenAway(file, processStart) || !placed(file, own)) return null
  }
  return {
    touch: () => {
      const now = new Date()
      utimesSync(file, now, now)
    },
    release: () => {
      if (said(file) === own) rmSync(file, { force: true })
    },
  }
}

/** Whether a process that lives drains the project. */
export function isDraining(root: string, processStart: ProcessStart): boolean {
  return isHeld(join(root, '.waymark', 'drain.lock'), processStart)
}

/** Written whole beside its place and then linked there, so that nobody reads half of it. */
function placed(file: string, own: string): boolean {
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, own, { mode: 0o600 })
  try {
    linkSync(temporary, file)
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(temporary, { force: true })
  }
}

function isHeld(file: string, processStart: ProcessStart): boolean {
  const holder = said(file)
  if (holder === null) return false
  try {
    const { pid, started } = JSON.parse(holder) as { readonly pid?: unknown; readonly started?: unknown }
    if (typeof pid !== 'number' || processStart(pid) !== started) return false
    // Where the system does not tell, another process may have the number by now: who drains touches its lock.
    return started !== 'unknown' || Date.now() - statSync(file).mtimeMs < longestUntouched
  } catch {
    return false
  }
}

function takenAway(file: string, processStart: ProcessStart): boolean {
  const taking = `${file}.taking`
  const begun = statSync(taking, { throwIfNoEntry: false })
  if (begun && Date.now() - begun.mtimeMs > longestTaking) rmSync(taking, { force: true })
  try {
    writeFileSync(taking, '', { flag: 'wx', mode: 0o600 })
  } catch {
    return false
  }
  try {
    // Another one may have taken it, and drain by now.
    if (isHeld(file, processStart)) return false
    rmSync(file, { force: true })
    return true
  } finally {
    rmSync(taking, { force: true })
  }
}

function said(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
