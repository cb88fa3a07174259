import type { Answer } from '../../support/project.ts'
import type { ServerProcess } from './server-process.ts'

/** A conversation in one era of the protocol. */
export interface Conversation {
  /** Sends a request and answers the whole response. */
  readonly ask: (method: string, params?: object) => Promise<Answer>
  readonly call: (tool: string, input?: object, meta?: object) => Promise<Answer>
}

export const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'raw-client', version: '1.0.0' },
}

export const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw-client', version: '1.0.0' },
}

/** Opens a conversation with `initialize`. */
export async function legacy(server: ServerProcess): Promise<Conversation> {
  await server.ask('initialize', handshake)
  server.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return conversation((method, params) => server.ask(method, params))
}

/** A conversation without a handshake: each request says by itself what it needs. */
export function modern(server: ServerProcess): Conversation {
  return conversation((method, { _meta, ...params }) =>
    server.ask(method, { ...params, _meta: { ...envelope, ..._meta } }),
  )
}

function conversation(ask: (method: string, params: Answer) => Promise<Answer>): Conversation {
  return {
    ask: (method, params = {}) => ask(method, params),
    call: async (name, input = {}, meta = {}) => {
      const { result } = await ask('tools/call', { name, arguments: input, _meta: meta })
      return result
    },
  }
}

/** Both eras, for tests that must hold in each. */
export const eras: readonly (readonly [
  string,
  (server: ServerProcess) => Promise<Conversation> | Conversation,
])[] = [
  ['2025-11-25', legacy],
  ['2026-07-28', modern],
]
