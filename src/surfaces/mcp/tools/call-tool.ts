import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { Failure, messageOf } from '../../../kernel/failure.ts'
import { type InvokeOptions, invokeParsing } from '../../../kernel/operations/invoke.ts'
import type { Context, Operation } from '../../../kernel/operations/operation.ts'
import { RemoteMeasureRequired } from '../../../remote/operations/remote-measurement.ts'
import type { ElicitationContext } from '../elicitation.ts'
import type { CallOrder } from './call-order.ts'
import type { OfferedTools } from './tool-list.ts'
import { answerResult, refusedResult } from './tool-result.ts'

export interface ToolCallContext {
  readonly tools: OfferedTools
  readonly order: CallOrder
  readonly log: (line: string, error?: unknown) => void
}

/** One call: `meta` is the request's `_meta`. */
export interface ToolCall {
  readonly params: CallToolRequest['params']
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly context: Context
  /** The client's questions to its person. */
  readonly asking: Omit<ElicitationContext, 'context'>
}

/** Calls a tool. An unknown tool is a protocol error; all else is an answer for the agent. */
export async function callTool(
  { tools, order, log }: ToolCallContext,
  call: ToolCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { params, meta } = call
  const caller = callerOf(meta)
  const context: Context = caller === null ? call.context : { ...call.context, caller }
  const operation = await tools.find(params.name)
  if (!operation) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
  try {
    const options = idempotencyOf(meta)
    const input = params.arguments ?? {}
    const invoked = await order.run(operation.kind, () => invokeParsing(operation, context, input, options))
    return answerResult(operation, invoked)
  } catch (error) {
    if (error instanceof RemoteMeasureRequired) throw error
    const failure = error instanceof Failure ? error : unexpectedFailure(operation, error, log)
    // Loaded only for a refusal, so that the first request is fast.
    const { elicitDecision: putToPerson } = await import('../elicitation.ts')
    return (await putToPerson(failure, { ...call.asking, context })) ?? refusedResult(failure)
  }
}

/** The field with the client session that started a remote machine's server. */
export const inheritedSession = 'waymark/session'

/** The fields in which clients pass the session of a call: Codex, OpenCode, Antigravity. */
const sessionKeys = [
  'threadId',
  'ai.opencode/sessionID',
  'sessionID',
  'antigravity.google/conversation_id',
] as const

function callerOf(meta: ToolCall['meta']): Required<Context>['caller'] | null {
  const turn = meta?.['x-codex-turn-metadata']
  const inTurn =
    typeof turn === 'object' && turn !== null && 'session_id' in turn ? turn.session_id : undefined
  const named = [inTurn, ...sessionKeys.map((key) => meta?.[key])]
  const session = named.find(isName)
  if (session !== undefined) return { session, link: 'call' }
  // From a client on another machine that started its server for a session.
  const inherited = meta?.[inheritedSession]
  return isName(inherited) ? { session: inherited, link: 'environment' } : null
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 200
}

function idempotencyOf(meta: ToolCall['meta']): InvokeOptions {
  const idempotencyKey = meta?.['waymark/idempotency-key']
  if (idempotencyKey === undefined) return {}
  if (typeof idempotencyKey === 'string') return { idempotencyKey }
  throw new Failure(
    'INVALID_INPUT',
    `_meta["waymark/idempotency-key"] must be a string, not ${JSON.stringify(idempotencyKey)}.`,
    { reason: 'idempotency_key_invalid' },
  )
}

function unexpectedFailure(operation: Operation, error: unknown, log: ToolCallContext['log']): Failure {
  log(`${operation.name} failed unexpectedly:`, error)
  return new Failure('INTERNAL', `${operation.name} failed unexpectedly: ${messageOf(error)}`, {
    reason: 'unexpected_error',
    hint: 'This is a defect of Waymark. Its log has the details; other calls still work.',
  })
}
