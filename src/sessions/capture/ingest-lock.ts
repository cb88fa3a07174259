import { linkSync, lutimesSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../kernel/failure.ts'
import { readOwn } from '../../kernel/files/regular-file.ts'
import { type HookQueue, writeOwn } from './hook-queue.ts'

/** Held by the one process that ingests a hook queue. */
export interface IngestLock {
  /** Shows hooks that this process is ingesting. */
  touch(): void
  release(): void
}

/** When a process began, as the system writes it; null if there is no such process. */
export type ProcessStart = (pid: number) => string | null

// One process at a time may remove a dead process's lock. If it is killed meanwhile, the others wait only this long.
const maxTakingMs = 5000
const maxUntouchedMs = 60_000

/** The lock of a queue, or null where another process that lives has it. */
export function takeIngestLock(queue: HookQueue, processStart: ProcessStart): IngestLock | null {
  const file = lockFile(queue)
  const own = JSON.stringify({ pid: process.pid, started: processStart(process.pid) ?? 'unknown' })
  if (!placeLock(queue, own)) {
    if (isHeld(file, processStart) || !takeOverLock(file, processStart) || !placeLock(queue, own)) return null
  }
  return {
    touch: () => {
      const now = new Date()
      lutimesSync(file, now, now)
    },
    release: () => {
      if (readLockOwner(file) === own) rmSync(file, { force: true })
    },
  }
}

/** Whether a living process ingests the queue. */
export function isIngesting(queue: HookQueue, processStart: ProcessStart): boolean {
  return isHeld(lockFile(queue), processStart)
}

function lockFile({ folder }: HookQueue): string {
  return join(folder, 'ingest.lock')
}

/** Writes the lock whole beside its path and links it there, so that nobody reads half of it. */
function placeLock(queue: HookQueue, own: string): boolean {
  const file = lockFile(queue)
  const temporary = `${file}.${process.pid}`
  writeOwn(queue.base, temporary, own)
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
  const holder = readLockOwner(file)
  if (holder === null) return false
  try {
    const { pid, started } = JSON.parse(holder) as { readonly pid?: unknown; readonly started?: unknown }
    if (typeof pid !== 'number' || processStart(pid) !== started) return false
    // If the system does not report it, another process may have the id by now. An ingesting process touches its lock.
    return started !== 'unknown' || Math.abs(Date.now() - statSync(file).mtimeMs) < maxUntouchedMs
  } catch {
    return false
  }
}

function takeOverLock(file: string, processStart: ProcessStart): boolean {
  const taking = `${file}.taking`
  const begun = statSync(taking, { throwIfNoEntry: false })
  if (begun && Math.abs(Date.now() - begun.mtimeMs) > maxTakingMs) rmSync(taking, { force: true })
  try {
    writeFileSync(taking, '', { flag: 'wx', mode: 0o600 })
  } catch {
    return false
  }
  try {
    // Another process may have taken the lock and ingest by now.
    if (isHeld(file, processStart)) return false
    rmSync(file, { force: true })
    return true
  } finally {
    rmSync(taking, { force: true })
  }
}

function readLockOwner(file: string): string | null {
  return readOwn(file, 4096)?.toString('utf8') ?? null
}
