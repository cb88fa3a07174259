import { Failure } from '../failure.ts'
import type { Context } from './operation.ts'

/** The work tree of the project; null where it is on other machines, as for a project of a team's server. */
export async function workTreeHere({ witness, folder }: Pick<Context, 'witness' | 'folder'>) {
  try {
    return await witness.locate(folder)
  } catch (error) {
    if (error instanceof Failure && error.details?.['elsewhere'] === true) return null
    throw error
  }
}
