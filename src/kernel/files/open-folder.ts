import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs'
import { errorCode } from '../failure.ts'

const { O_DIRECTORY, O_NOFOLLOW } = constants

/** An open folder. On Linux its path leads to this very folder, even if another takes its name. */
export interface OpenFolder {
  readonly path: string
  /** Negative if the system has no path to an open folder. */
  readonly descriptor: number
}

/** No link at the last name is followed. */
export function openFolder(path: string | Buffer): OpenFolder {
  const descriptor = process.platform === 'linux' ? openSync(path, O_DIRECTORY | O_NOFOLLOW) : -1
  if (descriptor < 0 && !lstatSync(path).isDirectory())
    throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' })
  return { path: descriptor < 0 ? String(path) : `/proc/self/fd/${descriptor}`, descriptor }
}

export function closeFolder({ descriptor }: OpenFolder): void {
  if (descriptor >= 0) closeSync(descriptor)
}

/** Opens a folder inside another one, created if missing. */
export function makeFolderIn({ path }: OpenFolder, name: string, mode = 0o700): OpenFolder {
  const place = `${path}/${name}`
  // Not `recursive`: in an open folder that was removed meanwhile, Node retries forever.
  try {
    mkdirSync(place, { mode })
  } catch (error) {
    if (!existsSync(place)) throw error
  }
  return openFolder(place)
}

/** Removes a name in a folder, with all its content; of a link only the link, never its target. */
export function removeIn({ path }: OpenFolder, name: string | Buffer): void {
  // Bytes, because a name need not be text.
  const place = Buffer.concat([Buffer.from(`${path}/`), Buffer.from(name)])
  try {
    if (lstatSync(place).isDirectory()) {
      const folder = openFolder(place)
      try {
        for (const inside of readdirSync(folder.path, { encoding: 'buffer' })) removeIn(folder, inside)
      } finally {
        closeFolder(folder)
      }
      rmdirSync(place)
    } else unlinkSync(place)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}
