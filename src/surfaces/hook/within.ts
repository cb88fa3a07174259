import { Failure } from '../../domain/failure.ts'

/** A result that is there in time, or UNAVAILABLE. */
export async function within<Result>(
  milliseconds: number,
  result: Promise<Result> | Result,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const failure = new Failure('UNAVAILABLE', `The database did not answer in ${milliseconds} ms.`)
    timer = setTimeout(() => reject(failure), milliseconds)
  })
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}
