import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { NamedFile } from '../../domain/gate/hook/tool-use.ts'

/** Where a file that a call names lies, by what its path leads to: `..` and symbolic links are followed. */
export function namedFile(
  path: string | null,
  { top, folder }: { readonly top: string; readonly folder: string },
): NamedFile {
  if (path === null) return { where: 'nowhere' }
  const real = reached(resolve(folder, path))
  const way = relative(top, real)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return { where: 'outside', path: real }
  return { where: 'inside', path: sep === '/' ? way : way.replaceAll(sep, '/') }
}

/** What a path leads to, though its last parts need not exist yet. */
function reached(path: string): string {
  const missing: string[] = []
  for (let existing = path; ; existing = dirname(existing)) {
    const real = realPath(existing)
    if (real !== null) return join(real, ...missing)
    if (dirname(existing) === existing) return path
    missing.unshift(basename(existing))
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}
