import { z } from 'zod'
import { Failure } from '../failure.ts'
import { location } from './fields.ts'
import { measurement } from './measurement-protocol.ts'

/** The work tree of the project; null if it is on other machines, as for a project of a team server. */
export const workTreePlace = measurement({
  brief: z.strictObject({}),
  measured: location.nullable(),
  measure: async ({ witness, folder }) => {
    try {
      return await witness.locate(folder)
    } catch (error) {
      if (error instanceof Failure && error.details?.['elsewhere'] === true) return null
      throw error
    }
  },
})

/** Asked first: hook events that wait are recorded before the record is read. */
export const waitingHooks = measurement({
  brief: z.strictObject({}),
  measured: z.null(),
  ingests: true,
  measure: async () => null,
})
