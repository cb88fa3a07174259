import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { sha } from '../../kernel/operations/fields.ts'
import { firstMistake } from '../../kernel/operations/input/first-mistake.ts'
import type { Measurement, MeasurementRequest, Measurer } from '../../kernel/operations/measurement.ts'

/** What a machine is asked to measure for a call, and what it sends back. */

const name = z.string().max(100)

export const MeasureRequest = z.strictObject({
  /** The operation that declares the measurements. */
  operation: z.string().max(100),
  asked: z
    .array(z.strictObject({ name, hash: sha, brief: z.unknown() }))
    .min(1)
    .max(20),
})
export type MeasureRequest = z.output<typeof MeasureRequest>

export const SentFailure = z.strictObject({
  code: z.enum([
    'INVALID_INPUT',
    'NOT_FOUND',
    'CONFLICT',
    'REFUSED',
    'FORBIDDEN',
    'UNAVAILABLE',
    'INTERNAL',
    'PROCESS_NOT_FOUND',
  ]),
  message: z.string().max(20_000),
  reason: z.string().max(100).optional(),
  hint: z.string().max(20_000).optional(),
  /** The call that helps. */
  fix: z
    .strictObject({ operation: z.string().max(100), input: z.record(z.string(), z.unknown()) })
    .optional(),
  details: z.record(z.string(), z.unknown()).optional(),
})
export type SentFailure = z.output<typeof SentFailure>

/** One measurement as it was made, named by the hash of the brief that it is for. */
export const SentMeasurement = z.strictObject({
  name,
  hash: sha,
  measured: z.unknown().optional(),
  failure: SentFailure.optional(),
})
export type SentMeasurement = z.output<typeof SentMeasurement>

/** Something must be measured where the files are before the call can be decided. */
export class RemoteMeasureRequired extends Error {
  readonly request: MeasureRequest

  constructor(operation: string, asked: ReadonlyMap<string, MeasurementRequest>) {
    super(`${operation} is measured on the machine of its caller.`)
    this.request = {
      operation,
      asked: [...asked].map(([of, { hash, brief }]) => ({ name: of, hash, brief })),
    }
  }
}

/** Takes what a machine measured from what it sent along; what it lacks, it is asked for. */
export function remoteMeasurer(sent: readonly SentMeasurement[]): Measurer {
  const known = new Map(sent.map((one) => [`${one.name} ${one.hash}`, one]))
  return async ({ name: operation, measurements }, asked) => {
    const found = new Map<string, unknown>()
    const lacking = new Map<string, MeasurementRequest>()
    for (const [of, one] of asked) {
      const made = known.get(`${of} ${one.hash}`)
      if (made === undefined) lacking.set(of, one)
      else found.set(of, measurementResult(made, measurements[of], one.brief))
    }
    if (lacking.size > 0) throw new RemoteMeasureRequired(operation, lacking)
    return found
  }
}

function measurementResult(
  { name: of, measured, failure }: SentMeasurement,
  measurement: Measurement | undefined,
  brief: unknown,
): unknown {
  if (failure) throw failureOf(failure)
  const read = measurement?.measured.safeParse(measured)
  const isAsAsked = read?.success && (measurement?.fits?.(brief, read.data) ?? true)
  if (isAsAsked) return read.data
  const mistake = read?.error ? firstMistake(read.error) : 'it has a measurement that was not requested'
  throw new Failure(
    'INVALID_INPUT',
    `The measurement of the machine (${of}) is not understood: ${mistake}.`,
    {
      reason: 'machine_answer_invalid',
      hint: 'Install the same version of Waymark on both machines.',
    },
  )
}

function failureOf({ code, message, reason, hint, fix, details }: SentFailure): Failure {
  return new Failure(code, message, {
    ...(reason !== undefined && { reason }),
    ...(hint !== undefined && { hint }),
    ...(fix !== undefined && { fix }),
    ...(details !== undefined && { details }),
  })
}
