import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { eachTrackedPath } from '../../git/tracked-paths.ts'
import { Failure, messageOf } from '../../kernel/failure.ts'
import { isWithin } from '../../kernel/files/contained-file.ts'
import { specialKind } from '../../kernel/files/regular-file.ts'
import { shellCommand } from '../../kernel/shell-word.ts'

// People commit these: processes and .gitignore.
const committed = /^(?:processes(?:\/|$)|\.gitignore$)/i
// Names with a leading dot come first in an index.
const dot = 0x2e
// Below `.waymark/state`: the folders that Waymark lists and removes from.
const maxDepth = 5

/**
 * Fails if the repository contains Waymark's own files: a link could lead writes out of the project, and a tracked file
 * could pass off foreign content as a record.
 */
export function refuseForeign(root: string, database?: string): void {
  const folder = join(root, '.waymark')
  const found = lstatSync(folder, { throwIfNoEntry: false })
  const hasOwn = found !== undefined && isOwnFolder(folder)
  const named = database === undefined ? null : pathBelow(root, database)
  try {
    if (hasOwn) refuseTracked(root)
    if (named !== null) refuseTrackedDatabase(root, named)
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('UNAVAILABLE', `Cannot read what git tracks in ${root}: ${messageOf(error)}`, {
      reason: 'git_index_unreadable',
      hint: 'Repair the index of git (git status says what is wrong), then run the same command again.',
      cause: error,
    })
  }
}

/** Whether there is a file that git must not track. */
function isOwnFolder(folder: string): boolean {
  const found = lstatSync(folder)
  if (!found.isDirectory())
    throw irregularPathFailure(folder, found.isSymbolicLink() ? 'a symbolic link' : 'not a folder')
  const own = entriesOf(folder).filter(({ name }) => !committed.test(name))
  for (const entry of own) inspect(entry, join(folder, entry.name), entry.name === 'state' ? maxDepth : 0)
  return own.length > 0
}

function inspect(entry: Dirent, path: string, depth: number): void {
  if (entry.isSymbolicLink()) throw irregularPathFailure(path, 'a symbolic link')
  if (!entry.isFile() && !entry.isDirectory())
    throw irregularPathFailure(path, specialKind(lstatSync(path)) ?? 'not a file')
  if (!entry.isDirectory() || depth === 0) return
  for (const below of entriesOf(path)) inspect(below, join(path, below.name), depth - 1)
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // an unreadable folder is harmless
  }
}

function refuseTracked(root: string): void {
  const tracked: string[] = []
  eachTrackedPath(root, (path) => {
    const [top = '', ...rest] = path.split('/')
    // As file systems compare names that ignore case; a link or a submodule is tracked by its own name.
    if (top.normalize('NFKC').toLowerCase() === '.waymark' && !committed.test(rest.join('/')))
      tracked.push(path)
    return path.charCodeAt(0) <= dot
  })
  const [first, ...more] = tracked
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new Failure(
    'REFUSED',
    `git tracks ${first}${others} in ${root}. Waymark does not read such files from a repository.`,
    {
      reason: 'waymark_folder_tracked',
      hint: `If it is your own, untrack it: ${shellCommand`git rm -r --cached ${first}`}. If not, delete it: ${shellCommand`git rm -r ${first}`}.`,
    },
  )
}

function refuseTrackedDatabase(root: string, database: string): void {
  const sides = ['', '-wal', '-shm', '-journal'].map((end) => `${database}${end}`)
  let found = ''
  eachTrackedPath(root, (path) => {
    if (sides.includes(path)) found = path
    return found === ''
  })
  if (found === '') return
  throw new Failure('REFUSED', `git tracks the database ${found} in ${root}. Anyone may have written it.`, {
    reason: 'database_tracked',
    hint: `If it is your own, untrack it: ${shellCommand`git rm --cached ${found}`}. If not, name another with WAYMARK_DATABASE.`,
  })
}

/** From the root, with `/`; null for a path outside and for one in `.waymark`. */
function pathBelow(root: string, path: string): string | null {
  const [top, real] = [realOf(root), realOf(path)]
  const parts = isWithin(top, real) ? relative(top, real).split(sep) : ['']
  return parts[0] === '.waymark' || parts[0] === '' ? null : parts.join('/')
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

function irregularPathFailure(path: string, kind: string): Failure {
  return new Failure('REFUSED', `${path} is ${kind}: Waymark neither reads nor writes there.`, {
    reason: 'path_not_regular',
    hint: `Remove it: rm '${path}'. To keep the record elsewhere, set WAYMARK_DATABASE.`,
  })
}
