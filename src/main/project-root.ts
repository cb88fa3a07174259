import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder that a project is known by and that `.waymark` lies in; for a bare repository, the folder beside it. */
export function projectRoot(mainTop: string): string {
  const isGitFolder = ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(mainTop, name)))
  return isGitFolder ? dirname(mainTop) : mainTop
}
