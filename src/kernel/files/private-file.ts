import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { errorCode, Failure } from '../failure.ts'

/** Writes a file that only its owner can read, atomically. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${crypto.randomUUID().slice(0, 8)}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    chmodSync(draft, 0o600) // whatever the umask is
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** The text of a file; null if there is none. */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null
    throw error
  }
}

// In milliseconds. Work under a lock takes only a few.
const patience = 5_000
const abandoned = 3_000
const pollMs = 15

/** Runs while no other process holds the same lock: they read the file and rewrite it. */
export function runLocked<Result>(file: string, run: () => Result): Result {
  const lock = `${file}.lock`
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const deadline = performance.now() + patience
  while (!takeLock(lock)) {
    if (performance.now() > deadline) {
      throw new Failure('UNAVAILABLE', `Another process is changing ${file} and does not end.`, {
        reason: 'file_locked',
        hint: `If there is none, remove ${lock}.`,
      })
    }
    removeAbandoned(lock)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs)
  }
  try {
    return run()
  } finally {
    rmSync(lock, { force: true })
  }
}

function takeLock(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** A killed process leaves its lock behind. */
function removeAbandoned(lock: string): void {
  const stats = statSync(lock, { throwIfNoEntry: false })
  if (stats && Math.abs(Date.now() - stats.mtimeMs) > abandoned) rmSync(lock, { force: true })
}
