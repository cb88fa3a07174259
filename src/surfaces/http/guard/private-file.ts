import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes a file that only its owner can read, all of it or nothing. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const made = `${file}.${randomUUID().slice(0, 8)}`
  try {
    writeFileSync(made, text, { mode: 0o600, flag: 'wx' })
    chmodSync(made, 0o600) // whatever the umask is
    renameSync(made, file)
  } catch (error) {
    rmSync(made, { force: true })
    throw error
  }
}

/** The text of a file, or null where there is none. */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null // an error of the file system
    throw error
  }
}

/** Changes whenever the file does; null where there is none. */
export function versionOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false })
  return found ? `${found.mtimeMs} ${found.ino} ${found.size}` : null
}
