import { join, resolve } from 'node:path'
import { Failure } from '../../domain/failure.ts'
import { type Environment, firstSet } from './environment.ts'

/** Where a project's record is kept. */
export interface DatabasePlace {
  /** Absolute path. */
  readonly file: string
  /** The user named it, so that several projects may live in it. */
  readonly shared: boolean
}

/** `WAYMARK_DATABASE`, else `TASKMAN_DB_NAME`, else `.waymark/waymark.db` in the project's root. */
export function databasePlace(
  environment: Environment,
  folders: { readonly root: string; readonly working: string },
): DatabasePlace {
  const named = firstSet(environment, ['WAYMARK_DATABASE', 'TASKMAN_DB_NAME'])
  if (named === undefined) return { file: join(folders.root, '.waymark', 'waymark.db'), shared: false }
  if (/^[a-z][a-z0-9+]*:\/\//i.test(named)) throw notYet(named)
  return { file: resolve(folders.working, named), shared: true }
}

function notYet(url: string): Failure {
  const protocol = url.slice(0, url.indexOf('://') + 3)
  return new Failure(
    'UNAVAILABLE',
    `A database at ${protocol}… is not available yet: only SQLite files are.`,
    {
      hint: 'Set WAYMARK_DATABASE to the path of a file, or unset it to use .waymark/waymark.db.',
    },
  )
}
