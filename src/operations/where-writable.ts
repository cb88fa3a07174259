import { Failure } from '../domain/failure.ts'

/** Writes what a question noticed, if it can be written: whoever only asks is answered all the same. */
export async function whereWritable(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'UNAVAILABLE')) throw error
  }
}
