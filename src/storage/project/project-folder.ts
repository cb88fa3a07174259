import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularSync } from '../../files/regular-file.ts'

const folderName = '.waymark'

/** Processes are committed; everything else in the folder is this machine's. */
const ignored = '*\n!/processes/\n!/processes/**\n'

/** The project that a folder says it belongs to. Null when it says nothing. */
export function readProjectId(root: string): string | null {
  try {
    return (
      readRegularSync(join(root, folderName, 'project-id'))
        .toString('utf8')
        .trim() || null
    )
  } catch {
    return null
  }
}

/** Lets a moved folder be found again in a database that several projects share. */
export function writeProjectId(root: string, id: string): void {
  if (readProjectId(root) === id) return
  const folder = join(root, folderName)
  ifWritable(() => {
    mkdirSync(folder, { recursive: true })
    writeIgnore(folder)
    writeFileSync(join(folder, 'project-id'), `${id}\n`)
  })
}

/** Keeps the folder out of the repository. A file that is there already is left as it is. */
export function writeIgnore(folder: string): void {
  ifWritable(() => writeFileSync(join(folder, '.gitignore'), ignored, { flag: 'wx' }))
}

// What is recorded is safe in the database: a folder that cannot be written to is no reason to fail.
function ifWritable(write: () => void): void {
  try {
    write()
  } catch {}
}
