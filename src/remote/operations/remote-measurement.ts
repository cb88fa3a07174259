import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { sha } from '../../kernel/operations/fields.ts'
import { firstMistake } from '../../kernel/operations/input/first-mistake.ts'
import type {
  Measurement,
  MeasurementRequest,
  Measurer,
} from '../../kernel/operations/measurement-protocol.ts'

/** The measurements that a server requests from a machine, and their results. */

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

/** The result of one measurement, with the hash of its brief. */
export const SentMeasurement = z.strictObject({
  name,
  hash: sha,
  measured: z.unknown().optional(),
  failure: SentFailure.optional(),
})
export type SentMeasurement = z.output<typeof SentMeasurement>

/** The remote machine must measure its files before the call can be decided. */
export class RemoteMeasureRequired extends Error {
  readonly request: MeasureRequest

  constructor(operation: string, requests: ReadonlyMap<string, MeasurementRequest>) {
    super(`${operation} is measured on the machine of its caller.`)
    this.request = {
      operation,
      asked: [...requests].map(([key, { hash, brief }]) => ({ name: key, hash, brief })),
    }
  }
}

/** Uses the measurements that a machine sent; requests the missing ones from it. */
export function remoteMeasurer(sent: readonly SentMeasurement[]): Measurer {
  const sentByKey = new Map(sent.map((one) => [`${one.name} ${one.hash}`, one]))
  return async ({ name: operation, measurements }, requests) => {
    const results = new Map<string, unknown>()
    const missing = new Map<string, MeasurementRequest>()
    for (const [key, request] of requests) {
      const result = sentByKey.get(`${key} ${request.hash}`)
      if (result === undefined) missing.set(key, request)
      else results.set(key, measurementResult(result, measurements[key], request.brief))
    }
    if (missing.size > 0) throw new RemoteMeasureRequired(operation, missing)
    return results
  }
}

function measurementResult(
  { name: key, measured, failure }: SentMeasurement,
  measurement: Measurement | undefined,
  brief: unknown,
): unknown {
  if (failure) throw failureOf(failure)
  const read = measurement?.measured.safeParse(measured)
  const isValid = read?.success && (measurement?.fits?.(brief, read.data) ?? true)
  if (isValid) return read.data
  const mistake = read?.error ? firstMistake(read.error) : 'it has a measurement that was not requested'
  throw new Failure(
    'INVALID_INPUT',
    `The measurement of the machine (${key}) is not understood: ${mistake}.`,
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
