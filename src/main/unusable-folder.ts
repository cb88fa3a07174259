import { Failure } from '../domain/failure.ts'

/** Why a folder cannot be a project, or null. A server that was started there runs, and each call says this. */
export function unusableFolder(folder: string, home: string): Failure | null {
  if (folder !== home && folder !== '/' && !/^[a-z]:\\$/i.test(folder)) return null
  return new Failure(
    'UNAVAILABLE',
    `No project is chosen: Waymark was started in ${folder}, which is none.`,
    {
      hint: 'Start it in the folder of a project, or name one with --project <folder> or WAYMARK_PROJECT=<folder>.',
    },
  )
}
