import type { CallToolResult } from '@modelcontextprotocol/server'
import { type Failure, refusalData } from '../../../kernel/failure.ts'
import type { InvokeResult } from '../../../kernel/operations/invoke.ts'
import type { Operation } from '../../../kernel/operations/operation.ts'

/** An answer as structured content, and as text for clients that read only text. */
export function answerResult({ print }: Operation, { answer, input, notice }: InvokeResult): CallToolResult {
  const blocks = print?.(answer, input) ?? [JSON.stringify(answer)]
  return {
    content: [...(notice === null ? [] : [notice]), ...blocks].map((text) => ({ type: 'text', text })),
    structuredContent: answer,
    isError: false,
  }
}

/** A refusal for an agent: what failed, and the next step. */
export function refusedResult(failure: Failure): CallToolResult {
  const { message, hint } = failure
  return {
    content: [{ type: 'text', text: hint === undefined ? message : `${message}\n${hint}` }],
    structuredContent: refusalData(failure),
    isError: true,
  }
}
