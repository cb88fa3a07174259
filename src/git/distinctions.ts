import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import type { Distinctions } from './configuration.ts'

const windows = process.platform === 'win32'

/** What the file system of a work tree can tell apart, as `.git` and a file in it show. Nothing is written. */
export function distinctionsOf(top: string, gitFolder: string): Distinctions {
  // git makes its own files without leave to execute them: where they have it, every file has.
  const own = entryAt(join(gitFolder, 'config')) ?? entryAt(join(gitFolder, 'HEAD'))
  return {
    modes: !windows && own !== undefined && (own.mode & 0o111) === 0,
    links: !windows,
    case: !isSame(entryAt(join(top, '.git')), entryAt(join(top, '.GIT'))),
  }
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  if (one === undefined || other === undefined) return false
  // A second name for the same file is no sign that case does not matter.
  return one.ino === other.ino && one.dev === other.dev && (one.isDirectory() || one.nlink === 1)
}

function entryAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
