import { isJSONRPCRequest, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { mistakenArguments } from '../malformed-params.ts'

export interface RefusedRequest {
  readonly status: number
  readonly code?: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
  readonly id?: string | number | null
}

// The SDK's answer to a request that violates the transport.
const brokenTransport = -32000

/** Answers a request before any server. */
export function refuse({
  status,
  code = brokenTransport,
  message,
  headers,
  id = null,
}: RefusedRequest): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status, headers: { ...headers } })
}

// With this code clients begin a new session.
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

/** The answer to a tool call with arguments that are no object. */
export function refusedArguments(body: unknown): Response | null {
  if (!isJSONRPCRequest(body)) return null
  const mistake = mistakenArguments(body)
  return mistake && refuse({ status: 200, ...mistake, id: body.id })
}

/** Adds a callback to a response: called once its body is sent, canceled or absent. */
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
