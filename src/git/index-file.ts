import type { PathBytes } from './path-bytes.ts'
import type { GitState } from './status.ts'

const headerLength = 12
const statLength = 40
const extended = 0x4000

/**
 * Reads an index file of version 2 or 3, as our private configuration makes git write it. The small index of the
 * changed paths is read this way, because starting git once more takes longer than all of the reading.
 */
export function readIndexFile(file: Buffer, objectFormat: string): Map<PathBytes, GitState> {
  const version = file.readUInt32BE(4)
  if (file.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3)) {
    throw new Error(`The private index has version ${version}, and 2 or 3 is what git was told to write.`)
  }
  const oidLength = objectFormat === 'sha256' ? 32 : 20
  const states = new Map<PathBytes, GitState>()
  let at = headerLength
  for (let left = file.readUInt32BE(8); left > 0; left -= 1) {
    const mode = file.readUInt32BE(at + 24).toString(8)
    const oidAt = at + statLength
    const flagsAt = oidAt + oidLength
    const pathAt = flagsAt + ((file.readUInt16BE(flagsAt) & extended) === 0 ? 2 : 4)
    const end = file.indexOf(0, pathAt)
    const oid = file.toString('hex', oidAt, flagsAt)
    states.set(file.toString('latin1', pathAt, end), { mode, oid })
    // Entries are filled up to a multiple of eight, with one NUL at least.
    at += (end - at + 8) & ~7
  }
  return states
}
