import {
  type JSONRPCErrorResponse,
  type JSONRPCRequest,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { deepestNesting } from '../../domain/json-outline.ts'

/** What is nested deeper than anything that goes into it step by step can bear. */
export const tooDeep: JSONRPCErrorResponse['error'] = {
  code: ProtocolErrorCode.InvalidParams,
  message: `Invalid params: the message is nested more than ${deepestNesting} levels deep.`,
}

/** The error of a tool call whose arguments are no object. The SDK refuses it too, but with a page of JSON. */
export function mistakenArguments({ method, params }: JSONRPCRequest): JSONRPCErrorResponse['error'] | null {
  const given = method === 'tools/call' ? params?.['arguments'] : undefined
  if (given === undefined || (typeof given === 'object' && given !== null && !Array.isArray(given)))
    return null
  return {
    code: ProtocolErrorCode.InvalidParams,
    message: `Invalid arguments: "arguments" must be an object of named fields, not ${JSON.stringify(given).slice(0, 80)}.`,
  }
}
