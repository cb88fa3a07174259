import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readRegularSync } from '../../files/regular-file.ts'

/**
 * The top of the main work tree, as git would name it, without starting git: `.git` of a linked tree is a file that
 * leads to the main one. Everything else is its own main tree.
 */
export function mainTree(top: string): string {
  const entry = join(top, '.git')
  if (statSync(entry, { throwIfNoEntry: false })?.isFile() !== true) return top
  const named = /^gitdir: (.*)\n?$/.exec(readRegularSync(entry).toString('utf8'))?.[1]
  if (named === undefined) return top
  const gitFolder = resolve(top, named)
  const pointer = join(gitFolder, 'commondir')
  if (!existsSync(pointer)) return top // a submodule, or a git folder kept elsewhere
  const common = resolve(gitFolder, readRegularSync(pointer).toString('utf8').trim())
  return basename(common) === '.git' ? dirname(common) : common
}
