import { isJSONRPCRequest, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { mistakenArguments } from '../malformed-params.ts'

export interface RefusedRequest {
  readonly status: number
  readonly code?: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
  readonly id?: string | number | null
}

// What the SDK answers for a request that breaks the rules of the transport.
const brokenTransport = -32000

/** A request that no server is asked about. */
export function refuse({
  status,
  code = brokenTransport,
  message,
  headers,
  id = null,
}: RefusedRequest): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status, headers: { ...headers } })
}

// The code by which clients know that they have to begin a new session.
const sessionGone = -32001

export function sessionNotFound(): Response {
  return refuse({
    status: 404,
    code: sessionGone,
    message: 'Session not found. It ended, or another token started it: initialize again.',
  })
}

export function parseError(): Response {
  return refuse({
    status: 400,
    code: ProtocolErrorCode.ParseError,
    message: 'Parse error: the body is not valid JSON.',
  })
}

/** The answer to a tool call whose arguments are no object. */
export function refusedArguments(body: unknown): Response | null {
  if (!isJSONRPCRequest(body)) return null
  const mistake = mistakenArguments(body)
  return mistake && refuse({ status: 200, ...mistake, id: body.id })
}

/** The same response, and a call once its body was sent, given up or never read because there is none. */
export function onResponseEnd(response: Response, over: () => void): Response {
  const { body, status, statusText, headers } = response
  if (!body) {
    over()
    return response
  }
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          controller.enqueue(value)
          return
        }
        over()
        controller.close()
      } catch (error) {
        over()
        controller.error(error)
      }
    },
    cancel: async (reason) => {
      over()
      await reader.cancel(reason)
    },
  })
  return new Response(watched, { status, statusText, headers })
}
