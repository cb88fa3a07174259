import { Failure } from '../../domain/failure.ts'
import { didYouMean } from '../../domain/nearest-word.ts'
import type { ServedProject, Serving } from './serving.ts'

/** The project that an address names. */
export function projectNamed(key: string, { projects }: Pick<Serving, 'projects'>): ServedProject {
  const found = projects.find((project) => project.key === key)
  if (found) return found
  const keys = projects.map((project) => project.key)
  throw new Failure('NOT_FOUND', `There is no project "${key.slice(0, 100)}" here.${didYouMean(key, keys)}`, {
    hint: `This server serves ${keys.join(', ')}.`,
  })
}

/** Splits a path into its project and the rest: `/p/shop/ws` is `/ws` of `shop`. */
export function projectOfPath(
  path: string,
  serving: Pick<Serving, 'projects'>,
): { readonly project: ServedProject; readonly rest: string } {
  const [, key, rest = '/'] = /^\/p\/([^/]+)(\/.*)?$/.exec(path) ?? []
  if (key === undefined) return { project: serving.projects[0], rest: path }
  return { project: projectNamed(key, serving), rest }
}
