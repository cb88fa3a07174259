import {
  ApiFailure,
  type CallOptions,
  createClient,
  type InputOf,
  type OperationName,
  type OutputOf,
} from '../../src/surfaces/http/client/client.ts'
import { base } from '../router/location.ts'
import type { Answers } from './answers.ts'
import { csrf, readSession } from './session.ts'

/** What an operation answers, as closely as the dashboard knows it. */
export type AnswerOf<Name extends OperationName> = Name extends keyof Answers ? Answers[Name] : OutputOf<Name>

/** Calls an operation of the project that is shown. Fails with an `ApiFailure`. */
export async function call<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  options: CallOptions = {},
): Promise<AnswerOf<Name>> {
  const client = createClient({ base: base.value, csrf })
  try {
    return (await client(name, input, options)) as AnswerOf<Name> // the same answer, more closely
  } catch (error) {
    // The session ended: the page says how to log in again.
    if (error instanceof ApiFailure && error.status === 401) await readSession()
    throw error
  }
}

/** What a person is told of a failure: what failed, and the way on. */
export function told(error: unknown): string {
  if (error instanceof ApiFailure) return error.hint ? `${error.message} ${error.hint}` : error.message
  return error instanceof Error ? error.message : String(error)
}
