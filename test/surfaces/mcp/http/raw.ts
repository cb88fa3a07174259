import type { Answer } from '../../../support/project.ts'
import { envelope, handshake } from '../eras.ts'

export type Headers = Readonly<Record<string, string>>

/** What an answer's body says: JSON, or the last message of an event stream. */
export async function said(response: Response): Promise<Answer> {
  const text = await response.text()
  if (!response.headers.get('content-type')?.includes('event-stream')) return JSON.parse(text)
  const messages = text.split('\n').filter((line) => line.startsWith('data: {'))
  return JSON.parse((messages.at(-1) ?? 'null').replace('data: ', ''))
}

export function post(url: string, body: unknown, headers: Headers = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

export function request(method: string, params: object = {}, id: string | number = 1): Answer {
  return { jsonrpc: '2.0', id, method, params }
}

/** One exchange of the newer era. */
export async function exchange(url: string, method: string, params: Answer = {}): Promise<Response> {
  const name = params.name ?? params.uri
  const headers = {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    ...(name !== undefined && { 'Mcp-Name': name }),
  }
  return post(url, request(method, { ...params, _meta: envelope }), headers)
}

export interface RawSession {
  readonly id: string
  readonly send: (message: unknown, headers?: Headers) => Promise<Response>
  /** Opens the stream of notifications. */
  readonly stream: (signal?: AbortSignal) => Promise<Response>
  readonly end: () => Promise<Response>
}

/** A session of the older era. */
export async function openSession(url: string, token = 'agent'): Promise<RawSession> {
  const authorization = { Authorization: `Bearer ${token}` }
  const response = await post(url, request('initialize', handshake), authorization)
  const id = response.headers.get('mcp-session-id')
  if (id === null) throw new Error(`no session: ${response.status} ${await response.text()}`)
  await response.text()
  const headers = { ...authorization, 'Mcp-Session-Id': id, 'MCP-Protocol-Version': '2025-11-25' }
  await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
  return {
    id,
    send: (message, more = {}) => post(url, message, { ...headers, ...more }),
    stream: (signal) =>
      fetch(url, { headers: { ...headers, Accept: 'text/event-stream' }, ...(signal && { signal }) }),
    end: () => fetch(url, { method: 'DELETE', headers }),
  }
}
