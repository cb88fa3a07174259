import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whether a folder, or the nearest one above that exists, can be written. Creates nothing. */
export function canWrite(folder: string): boolean {
  if (!existsSync(folder)) return dirname(folder) !== folder && canWrite(dirname(folder))
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
