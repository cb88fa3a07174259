import { Failure } from '../kernel/failure.ts'

/** A number as a database answered it; a whole one beyond those that are counted exactly is refused. */
export function assertExactNumber(number: number, text: string | number = number): number {
  if (!Number.isInteger(number) || Number.isSafeInteger(number)) return number
  throw new Failure(
    'UNAVAILABLE',
    `The database answered ${text}, which is beyond the numbers that are counted exactly.`,
    {
      reason: 'number_too_large',
      hint: 'Counts and sums go up to 9,007,199,254,740,991. `waymark doctor` tells which rows are not what the log entries make.',
    },
  )
}
