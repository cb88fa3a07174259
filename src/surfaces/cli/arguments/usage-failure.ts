import { Failure } from '../../../domain/failure.ts'

/** A command line that was not understood; `waymark` ends with exit code 2. */
export function usageFailure(message: string, hint: string): Failure {
  return new Failure('INVALID_INPUT', message, { hint })
}
