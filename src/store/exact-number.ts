import { Failure } from '../kernel/failure.ts'

/** A number from a database; integers beyond the safe range are refused. */
export function assertExactNumber(number: number, text: string | number = number): number {
  if (!Number.isInteger(number) || Number.isSafeInteger(number)) return number
  throw new Failure('UNAVAILABLE', `The database returned ${text}, which is too large to count exactly.`, {
    reason: 'number_too_large',
    hint: 'The maximum is 9,007,199,254,740,991. `waymark doctor` lists the rows that do not match the log.',
  })
}
