import {
  ApiFailure,
  type CallOptions,
  createClient,
  type InputOf,
  type OperationName,
  type OutputOf,
} from '../../src/surfaces/http/client/client.ts'
import { base } from '../router/location.ts'
import { csrf, failureOf, readSession } from './session.ts'

interface ProjectCall extends CallOptions {
  /** The base path of the project, where it is not the one that is shown. */
  readonly project?: string
}

/** Calls an operation of the project that is shown. Fails with an `ApiFailure`. */
export async function call<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  { project = base.peek(), ...options }: ProjectCall = {},
): Promise<OutputOf<Name>> {
  const client = createClient({ base: project, csrf })
  try {
    return await client(name, input, options)
  } catch (error) {
    // The session ended: the page says how to log in again.
    if (error instanceof ApiFailure && error.status === 401) await readSession()
    throw error
  }
}

interface NamedCall {
  /** The base path of the project, where it is not the one that is shown. */
  readonly project?: string
  /** The page is being left. */
  readonly leaving?: boolean
}

/** Calls an operation that is known by its name alone, as what a palette was given or a newer server has. */
export async function callByName(name: string, input: object, options: NamedCall = {}): Promise<unknown> {
  const { project = base.peek(), leaving = false } = options
  const csrfToken = csrf()
  const response = await fetch(`${project}/api/${name}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(csrfToken && { 'X-Waymark-Csrf': csrfToken }) },
    body: JSON.stringify(input),
    // A page that is being left sends what it has to send all the same.
    keepalive: leaving,
  }).catch((error: unknown) => {
    throw new ApiFailure(0, {}, error)
  })
  if (!response.ok) throw await failureOf(response)
  return response.json().catch(() => null)
}

/** Why a page has nothing to show. A page that is not there is left by its link: the hint names commands. */
export function reasonOf(error: unknown): string {
  return error instanceof ApiFailure && error.status === 404 ? error.message : errorText(error)
}

/** What a person is told of a failure: what failed, and the way on. */
export function errorText(error: unknown): string {
  if (error instanceof ApiFailure) return error.hint ? `${error.message} ${error.hint}` : error.message
  return error instanceof Error ? error.message : String(error)
}
