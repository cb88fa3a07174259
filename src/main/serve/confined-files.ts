import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { Failure } from '../../domain/failure.ts'
import type { PlanFiles } from '../../ports/plan-files.ts'
import type { LoadedProcess, ProcessFiles } from '../../ports/process-files.ts'

/** Plans of a project's own folder. */
export function confinedPlanFiles(files: PlanFiles, folder: string): PlanFiles {
  return {
    load: async (path, format) => {
      refuseOutside(path, folder)
      return files.load(path, format)
    },
  }
}

/** Processes by their id, or by a file of the project's own folder. */
export function confinedProcessFiles(files: ProcessFiles, folder: string): ProcessFiles {
  return {
    list: async () => (await files.list()).filter((process) => isOwn(process, folder)),
    hasOwn: () => files.hasOwn(),
    load: async (idOrFile) => {
      refuseOutside(idOrFile, folder)
      const process = await files.load(idOrFile)
      if (!isOwn(process, folder)) refuse(idOrFile)
      return process
    },
  }
}

/** An id may stand for a link, too. */
function isOwn({ origin, file }: LoadedProcess, folder: string): boolean {
  return origin === 'shipped' || liesInside(file, folder)
}

function refuseOutside(path: string, folder: string): void {
  if (!liesInside(path, folder)) refuse(path)
}

/** Follows links: one that lies in the project may lead out of it. */
function liesInside(path: string, folder: string): boolean {
  const place = resolve(folder, path)
  return isInside(place, folder) && isInside(realOf(place), realOf(folder))
}

function refuse(path: string): never {
  throw new Failure(
    'FORBIDDEN',
    `${path.slice(0, 200)} lies outside the project, and over HTTP only its own files are read.`,
    {
      hint: 'Copy the file into the project, or use the command line.',
    },
  )
}

function isInside(place: string, folder: string): boolean {
  const way = relative(folder, place)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path) // there is no such file yet; where it would lie is what counts
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}
