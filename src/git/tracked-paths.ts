import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readRegularSync } from '../kernel/files/regular-file.ts'

const statLength = 40
const extendedFlag = 0x4000

/**
 * Passes every tracked path of a work tree to `take`, in the order of the index, until it returns false. Reads an index
 * of any version without starting git, as hooks use it too. Does nothing without a repository.
 */
export function eachTrackedPath(top: string, take: (path: string) => boolean): void {
  const gitFolder = gitFolderOf(top)
  if (gitFolder === null) return
  // A split index names only the differences from its shared index.
  const names = ['index', ...readdirSync(gitFolder).filter((name) => name.startsWith('sharedindex.'))]
  for (const name of names) {
    const file = join(gitFolder, name)
    if (existsSync(file)) eachPath(readRegularSync(file), oidLengthOf(gitFolder), take)
  }
}

function gitFolderOf(top: string): string | null {
  const entry = join(top, '.git')
  const stats = statSync(entry, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return stats === undefined ? null : entry
  const named = /^gitdir: (.*)\n?$/.exec(readRegularSync(entry).toString('utf8'))?.[1]
  const folder = named === undefined ? null : resolve(top, named)
  return folder !== null && existsSync(folder) ? folder : null
}

function oidLengthOf(gitFolder: string): number {
  const pointer = join(gitFolder, 'commondir')
  const common = existsSync(pointer)
    ? resolve(gitFolder, readRegularSync(pointer).toString('utf8').trim())
    : gitFolder
  const config = join(common, 'config')
  const text = existsSync(config) ? readRegularSync(config).toString('utf8') : ''
  return /^[ \t]*objectformat[ \t]*=[ \t]*"?sha256/im.test(text) ? 32 : 20
}

function eachPath(file: Buffer, oidLength: number, take: (path: string) => boolean): void {
  if (file.length < 12 || file.toString('latin1', 0, 4) !== 'DIRC') return
  const isCompressed = file.readUInt32BE(4) === 4
  let at = 12
  let path = ''
  for (let left = file.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + statLength + oidLength
    if (flagsAt + 4 > file.length) return
    let pathAt = flagsAt + ((file.readUInt16BE(flagsAt) & extendedFlag) === 0 ? 2 : 4)
    let kept = ''
    if (isCompressed) {
      const { value, next } = offsetAt(file, pathAt)
      kept = path.slice(0, Math.max(0, path.length - value))
      pathAt = next
    }
    const end = file.indexOf(0, pathAt)
    if (end < 0) return
    path = kept + file.toString('latin1', pathAt, end)
    if (!take(Buffer.from(path, 'latin1').toString('utf8'))) return
    // Records are padded to a multiple of eight, with at least one NUL. Compressed ones are not padded.
    at = isCompressed ? end + 1 : at + ((end - at + 8) & ~7)
  }
}

/** A number in git's own encoding: seven bits per byte, plus one for each continuation byte. */
function offsetAt(file: Buffer, from: number): { readonly value: number; readonly next: number } {
  let next = from
  let byte = file[next++] ?? 0
  let value = byte & 127
  while ((byte & 128) !== 0) {
    byte = file[next++] ?? 0
    value = (value + 1) * 128 + (byte & 127)
  }
  return { value, next }
}
