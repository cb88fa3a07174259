import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Failure } from '../../../domain/failure.ts'
import type { Answer } from '../../../operations/invoke.ts'

/** An answer as structured content, and the same as text for clients and models that read only text. */
export function answered(answer: Answer): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: answer,
    isError: false,
  }
}

/** A refusal that an agent can act on: what failed, and the way on. */
export function refused({ code, message, hint, details }: Failure): CallToolResult {
  return {
    content: [{ type: 'text', text: hint === undefined ? message : `${message}\n${hint}` }],
    structuredContent: {
      success: false,
      error: { code, message, hint: hint ?? null, details: details ?? null },
    },
    isError: true,
  }
}
