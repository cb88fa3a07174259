import { realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { Failure } from '../domain/failure.ts'
import { findRepository, type Repository } from './repository.ts'
import type { Environment } from './run-git.ts'

/** A folder that can be witnessed, with git or without. */
export type Location =
  | { readonly engine: 'git'; readonly repository: Repository }
  | { readonly engine: 'checksum'; readonly top: string; readonly reason: string }

/** Finds out how a folder can be witnessed. Throws UNAVAILABLE where it must not or cannot be. */
export async function locateFolder(folder: string, environment: Environment): Promise<Location> {
  const top = await existingFolder(folder)
  if (isTooWide(top, environment)) {
    throw new Failure('UNAVAILABLE', `${folder} is too wide to be a project: choose a folder below it.`)
  }
  const found = await findRepository(top, environment)
  if (found.status === 'bare') throw new Failure('UNAVAILABLE', found.reason)
  if (found.status !== 'usable') return { engine: 'checksum', top, reason: found.reason }
  if (isTooWide(found.top, environment)) {
    return { engine: 'checksum', top, reason: `The repository's top is ${found.top}, which is too wide.` }
  }
  return { engine: 'git', repository: found }
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
