import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { Failure } from '../../../domain/failure.ts'
import { type InvokeOptions, invokeParsing } from '../../../operations/invoke.ts'
import type { Context, Operation } from '../../../operations/operation.ts'
import type { Asking } from '../elicitation.ts'
import type { CallOrder } from './call-order.ts'
import type { OfferedTools } from './tool-list.ts'
import { answered, refused } from './tool-result.ts'

export interface Calling {
  readonly tools: OfferedTools
  readonly order: CallOrder
  readonly log: (line: string) => void
}

/** One call: `meta` is the request's `_meta`. */
export interface ToolCall {
  readonly params: CallToolRequest['params']
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly context: Context
  /** What a person may be asked by way of the client. */
  readonly asking: Omit<Asking, 'context'>
}

/** Calls a tool. Only an unknown one is an error of the protocol; all else is an answer that an agent can read. */
export async function callTool(
  { tools, order, log }: Calling,
  call: ToolCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { params, context, meta } = call
  const operation = await tools.find(params.name)
  if (!operation) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
  try {
    const options = idempotencyOf(meta)
    const input = params.arguments ?? {}
    const invoked = await order.run(operation.kind, () => invokeParsing(operation, context, input, options))
    return answered(operation, invoked)
  } catch (error) {
    const failure = error instanceof Failure ? error : unexpected(operation, error, log)
    // Only a refusal needs what knows of people's decisions: a server answers its first request without.
    const { putToPerson } = await import('../elicitation.ts')
    return (await putToPerson(failure, { ...call.asking, context })) ?? refused(failure)
  }
}

function idempotencyOf(meta: ToolCall['meta']): InvokeOptions {
  const idempotencyKey = meta?.['waymark/idempotency-key']
  if (idempotencyKey === undefined) return {}
  if (typeof idempotencyKey === 'string') return { idempotencyKey }
  throw new Failure(
    'INVALID_INPUT',
    `_meta["waymark/idempotency-key"] must be a string, not ${JSON.stringify(idempotencyKey)}.`,
  )
}

function unexpected(operation: Operation, error: unknown, log: Calling['log']): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  log(`${operation.name} failed unexpectedly: ${stack ?? message}`)
  return new Failure('INTERNAL', `${operation.name} failed unexpectedly: ${message}`, {
    hint: 'This is a defect of Waymark. Its log has the details; other calls still work.',
  })
}
