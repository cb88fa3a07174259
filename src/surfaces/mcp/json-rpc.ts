import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
} from '@modelcontextprotocol/server'
import { isJsonObject } from '../../kernel/json.ts'

/** The error codes for answers without the SDK, to avoid loading it. */
export const errorCodes = { parse: -32700, invalidRequest: -32600, invalidParams: -32602 } as const

export type JsonRpcMembers = Readonly<Record<string, unknown>>

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

// The SDK accepts the same messages and checks them again; tests compare both.

export function isRequest(value: unknown): value is JSONRPCRequest {
  return (
    hasOnlyMembers(value, ['jsonrpc', 'id', 'method', 'params']) && isRequestId(value['id']) && isCall(value)
  )
}

export function isMessage(value: unknown): value is JSONRPCMessage {
  return isRequest(value) || isNotification(value) || isResult(value) || isError(value)
}

function isNotification(value: unknown): value is JSONRPCNotification {
  return hasOnlyMembers(value, ['jsonrpc', 'method', 'params']) && isCall(value)
}

function isResult(value: unknown): boolean {
  if (!hasOnlyMembers(value, ['jsonrpc', 'id', 'result'])) return false
  const { id, result } = value
  if (!isRequestId(id) || !isJsonObject(result)) return false
  return result['_meta'] === undefined || isJsonObject(result['_meta'])
}

function isError(value: unknown): boolean {
  if (!hasOnlyMembers(value, ['jsonrpc', 'id', 'error'])) return false
  const { id, error } = value
  if ((id !== undefined && !isRequestId(id)) || !isJsonObject(error)) return false
  return Number.isSafeInteger(error['code']) && typeof error['message'] === 'string'
}

function isCall({ method, params }: JsonRpcMembers): boolean {
  return typeof method === 'string' && (params === undefined || (isJsonObject(params) && hasCallMeta(params)))
}

function hasCallMeta({ _meta: meta }: JsonRpcMembers): boolean {
  if (meta === undefined) return true
  if (!isJsonObject(meta)) return false
  const { progressToken, 'io.modelcontextprotocol/related-task': task } = meta
  if (progressToken !== undefined && !isRequestId(progressToken)) return false
  return task === undefined || (isJsonObject(task) && typeof task['taskId'] === 'string')
}

function hasOnlyMembers(value: unknown, names: readonly string[]): value is JsonRpcMembers {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return false
  for (const name in value) if (!names.includes(name)) return false
  return true
}
