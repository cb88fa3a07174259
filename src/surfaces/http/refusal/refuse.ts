import { Failure } from '../../../domain/failure.ts'
import type { Log } from '../serving.ts'
import { type ErrorAnswer, type ErrorCode, Refusal } from './refusal.ts'
import { statusOf } from './status.ts'

/** A refusal as it is written to the caller, over a request or in place of an upgrade. */
export interface WrittenRefusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ErrorAnswer
}

/** What somebody is told of what was thrown. What nobody expected is logged, and told without its inside. */
export function written(error: unknown, log: Log): WrittenRefusal {
  if (error instanceof Refusal) return { ...answerOf(error), headers: error.headers }
  if (error instanceof Failure) return { ...answerOf(error), headers: {} }
  log.error('A request failed unexpectedly.', { error: error instanceof Error ? error.stack : String(error) })
  const defect = new Refusal('INTERNAL', 'The request failed unexpectedly.', {
    hint: 'This is a defect of Waymark. Its log has the details; other requests still work.',
  })
  return { ...answerOf(defect), headers: {} }
}

export function refused(error: unknown, log: Log): Response {
  const { status, headers, body } = written(error, log)
  return Response.json(body, { status, headers })
}

interface Refused {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
}

function answerOf({ code, message, hint, details }: Refused) {
  const error = {
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
  }
  return { status: statusOf[code], body: { success: false, error } } as const
}
