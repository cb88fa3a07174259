import { ProtocolErrorCode } from '@modelcontextprotocol/server'

export interface Refusal {
  readonly status: number
  readonly code?: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
  readonly id?: string | number | null
}

// What the SDK answers for a request that breaks the rules of the transport.
const brokenTransport = -32000

/** A request that no server is asked about. */
export function refuse({ status, code = brokenTransport, message, headers, id = null }: Refusal): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status, headers: { ...headers } })
}

// The code by which clients know that they have to begin a new session.
const sessionGone = -32001

export function sessionNotFound(): Response {
  return refuse({
    status: 404,
    code: sessionGone,
    message: 'Session not found. It ended, or another token began it: initialize again.',
  })
}

export function parseError(): Response {
  return refuse({
    status: 400,
    code: ProtocolErrorCode.ParseError,
    message: 'Parse error: the body is not valid JSON.',
  })
}
