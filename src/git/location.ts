import { realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { Failure } from '../domain/failure.ts'
import { findRepository } from './find-repository.ts'
import type { Repository } from './repository.ts'
import type { Environment } from './run-git.ts'

/** A folder that can be witnessed, with git or without. */
export type Location =
  | { readonly engine: 'git'; readonly folder: string; readonly repository: Repository }
  | {
      readonly engine: 'checksum'
      readonly folder: string
      /** Why not git, as a sentence. */
      readonly reason: string
      readonly hasRepository: boolean
    }

/** Finds out how a folder can be witnessed. Throws UNAVAILABLE where it must not or cannot be. */
export async function locateFolder(path: string, environment: Environment): Promise<Location> {
  const folder = await existingFolder(path)
  if (isTooWide(folder, environment)) {
    throw new Failure('UNAVAILABLE', `${folder} is too wide to be a project: choose a folder below it.`)
  }
  const found = await findRepository(folder, environment)
  if (found.status === 'bare') throw new Failure('UNAVAILABLE', found.reason)
  if (found.status !== 'usable') {
    return { engine: 'checksum', folder, reason: found.reason, hasRepository: found.status !== 'none' }
  }
  if (isTooWide(found.top, environment)) {
    const reason = `The repository's top is ${found.top}, which is too wide to be a project.`
    return { engine: 'checksum', folder, reason, hasRepository: true }
  }
  return { engine: 'git', folder, repository: found }
}

async function existingFolder(folder: string): Promise<string> {
  try {
    const top = await realpath(folder)
    if ((await stat(top)).isDirectory()) return top
  } catch (cause) {
    throw new Failure('UNAVAILABLE', `There is no folder ${folder}.`, { cause })
  }
  throw new Failure('UNAVAILABLE', `${folder} is not a folder.`)
}

function isTooWide(top: string, environment: Environment): boolean {
  return top === '/' || top === (environment['HOME'] ?? homedir())
}
