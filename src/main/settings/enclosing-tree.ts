import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The nearest folder upwards that holds `.git`, without starting git. A home folder under version control is no
 * project, nor is anything above it.
 */
export function enclosingTree(folder: string, home: string): string | null {
  const parent = dirname(folder)
  if (folder === home || parent === folder) return null
  return existsSync(join(folder, '.git')) ? folder : enclosingTree(parent, home)
}
