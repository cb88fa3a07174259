import { isJSONRPCRequest } from '@modelcontextprotocol/server'
import { mistakenArguments } from '../mistaken-arguments.ts'
import { refuse } from './refusal.ts'

/** The answer to a tool call whose arguments are no object. */
export function refusedArguments(body: unknown): Response | null {
  if (!isJSONRPCRequest(body)) return null
  const mistake = mistakenArguments(body)
  return mistake && refuse({ status: 200, ...mistake, id: body.id })
}
