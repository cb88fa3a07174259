import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whether files can be written in a folder, or in the nearest one above that exists. Creates nothing. */
export function canWrite(folder: string): boolean {
  const found = entryAt(folder)
  if (!found) return dirname(folder) !== folder && canWrite(dirname(folder))
  if (!found.isDirectory()) return false
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function entryAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // a file where a folder should be: the walk upwards meets it
  }
}
