import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { codeOf, missing, saysMissing } from './system-error.ts'

/** Where a path leads: a file's own spelling, or why it is no evidence, to follow the path in a sentence. */
export type Place = { readonly path: string; readonly absolute: string } | { readonly problem: string }

const outside = { problem: "leads out of the project's folder" }

/** Finds what a path means in a folder that is given by its real path. What lies outside is only resolved, never read. */
export async function placeOf(folder: string, path: string): Promise<Place> {
  if (path === '') return { problem: 'is empty: a path is needed' }
  if (path.includes('\0')) return { problem: 'holds a NUL byte' }
  const named = resolve(folder, path)
  // An absolute path may spell the folder otherwise, through a link above it.
  if (!isAbsolute(path) && inside(folder, named) === null) return outside
  let absolute: string
  try {
    // The native one answers a name as it is on disk, where the system ignores case.
    absolute = await realpath(named)
  } catch (error) {
    return inside(folder, named) === null ? outside : { problem: unresolved(error) }
  }
  const own = inside(folder, absolute)
  if (own === null) return outside
  if (own.some((name) => name.toLowerCase() === '.git')) return { problem: "is git's own" }
  return { path: own.join('/'), absolute }
}

/** The names from a folder to a path in it. Null outside. */
function inside(folder: string, path: string): readonly string[] | null {
  const names = relative(folder, path).split(sep)
  return names[0] === '..' || isAbsolute(relative(folder, path)) ? null : names
}

function unresolved(error: unknown): string {
  const code = codeOf(error)
  if (saysMissing(code)) return missing
  return code === 'ELOOP' ? 'is a link in a circle' : `cannot be resolved (${code})`
}
