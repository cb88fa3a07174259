/**
 * A path relative to a folder, with `/` as separator: empty for the folder itself, null if it is not below it. Both are
 * absolute, with `/` or, on Windows, `\`, since git and Node differ there.
 */
export function pathBelow(folder: string, path: string): string | null {
  const [above, below] = [toSlashes(folder), toSlashes(path)]
  const prefix = above.endsWith('/') ? above : `${above}/`
  if (below === above) return ''
  return below.startsWith(prefix) ? below.slice(prefix.length) : null
}

/** Only a path of Windows has separators to change: elsewhere a backslash is a letter of a name. */
function toSlashes(path: string): string {
  return /^(?:[a-z]:[\\/]|\\\\)/i.test(path)
    ? path.replaceAll('\\', '/').replace(/^[a-z]:/, (drive) => drive.toUpperCase())
    : path
}

/** A relative path without `.` and `..`; null if it leads out of its folder. */
export function resolvePath(path: string): string | null {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return null
  }
  return parts.join('/')
}
