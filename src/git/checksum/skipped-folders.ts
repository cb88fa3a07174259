import type { PathBytes } from '../path-bytes.ts'

// What version control keeps for itself, and what package managers put there and can put there again.
const NAMES = new Set([
  '.git',
  '.hg',
  '.svn',
  '.jj',
  '.bzr',
  'CVS',
  '_darcs',
  '.pijul',
  '.sl',
  'node_modules',
  'bower_components',
  'jspm_packages',
  '.pnpm-store',
  '.venv',
  'venv',
  'site-packages',
  '__pycache__',
  '.tox',
  '.nox',
  '.eggs',
  '.gradle',
  '.terraform',
  '.dart_tool',
  'elm-stuff',
  'Pods',
])

/** Whether a folder is never looked into, whatever the ignore files say. Its path ends with `/`. */
export function isSkipped(path: PathBytes, name: string): boolean {
  return NAMES.has(name) || isWaymarksOwn(path)
}

// Of Waymark's folder only the processes belong to the project.
function isWaymarksOwn(path: PathBytes): boolean {
  const at = path.lastIndexOf('.waymark/')
  if (at < 0 || (at > 0 && path[at - 1] !== '/')) return false
  const below = path.slice(at + '.waymark/'.length)
  return below !== '' && !below.startsWith('processes/')
}

/** Whether the files directly in a folder are Waymark's own. */
export function holdsWaymarksFiles(folder: PathBytes): boolean {
  return folder === '.waymark/' || folder.endsWith('/.waymark/')
}
