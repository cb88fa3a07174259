import { hash, randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { removeFromState } from '../kernel/files/state-folder.ts'

/** For fewer bytes, comparing contents takes less time than writing an index. */
const minRacyBytes = 1024 * 1024
/** Copied at once, on the event loop. */
const maxIndexBytes = 64 * 1024 * 1024

/**
 * The index that `status` reads. git compares the content of every file that is as new as the index, each time, until a
 * command of the user writes the index. As the user's index is never written, a copy of it is refreshed instead.
 */
export function indexForStatus(stateFolder: string, index: string): string {
  const copy = copyOf(stateFolder, index)
  return copy !== null && existsSync(copy) ? copy : index
}

/** Copies the user's index if git would compare much content with it again. A failure costs time only. */
export function copyRacyIndex(stateFolder: string, index: string, racyBytes: number): void {
  if (racyBytes < minRacyBytes) return
  try {
    writeCopy(stateFolder, index)
  } catch {
    // The disk is full, or another process replaces the index or the copy.
  }
}

function writeCopy(stateFolder: string, index: string): void {
  const copy = copyOf(stateFolder, index)
  if (copy === null || existsSync(copy)) return
  const folder = join(stateFolder, folderName)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) {
    if (name.startsWith(nameOf(index))) removeFromState(stateFolder, join(folder, name))
  }
  const draft = `${copy}.${randomUUID()}`
  const { atimeMs, mtimeMs } = lstatSync(index)
  copyFileSync(index, draft)
  // The time tells git which entries to distrust: an earlier one distrusts more.
  utimesSync(draft, Math.floor(atimeMs / 1000), Math.floor(mtimeMs / 1000))
  if (copyOf(stateFolder, index) === copy) renameSync(draft, copy)
  else removeFromState(stateFolder, draft)
}

const folderName = 'indexes'

/** The copy of exactly this state of the index; null if there is none to copy. */
function copyOf(stateFolder: string, index: string): string | null {
  const stat = lstatSync(index, { bigint: true, throwIfNoEntry: false })
  if (!stat?.isFile() || stat.size > maxIndexBytes) return null
  const state = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ')
  return join(stateFolder, folderName, `${nameOf(index)}${hash('sha256', state).slice(0, 16)}`)
}

function nameOf(index: string): string {
  return `${hash('sha256', index).slice(0, 16)}-`
}
