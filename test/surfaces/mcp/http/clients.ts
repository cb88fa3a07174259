import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import type { Answer } from '../../../support/project.ts'

export type Era = '2025-11-25' | '2026-07-28'
export const eras: readonly Era[] = ['2025-11-25', '2026-07-28']

/** The SDK's client over HTTP, and what it was told. */
export interface HttpClient {
  readonly client: Client
  /** Calls a tool; fails with its text when it answers an error. */
  readonly call: (tool: string, input: object) => Promise<Answer>
  /** Waits until the client was told that a resource changed. */
  readonly updated: (uri: string) => Promise<void>
  /** Waits until the client was told that other resources are listed. */
  readonly listChanged: () => Promise<void>
  /** Waits until the client was told that other tools are listed. */
  readonly toolsChanged: () => Promise<void>
  /** Every address that it was told of. */
  readonly told: readonly string[]
}

export interface Connecting {
  readonly era: Era
  /** Names the actor. */
  readonly token?: string
}

export async function connect(url: string, { era, token = 'agent' }: Connecting): Promise<HttpClient> {
  const client = new Client(
    { name: 'http-client', version: '1.0.0' },
    { versionNegotiation: { mode: era === '2025-11-25' ? 'legacy' : { pin: era } } },
  )
  const told: string[] = []
  const waiting = new Set<() => void>()
  const hear = (what: string) => {
    told.push(what)
    for (const look of waiting) look()
  }
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => hear(params.uri))
  client.setNotificationHandler('notifications/resources/list_changed', () => hear('list'))
  client.setNotificationHandler('notifications/tools/list_changed', () => hear('tools'))
  const headers = { Authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  const heard = (what: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!told.includes(what)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return {
    client,
    told,
    call: async (tool, input) => {
      const result = await client.callTool({ name: tool, arguments: { ...input } })
      if (result.isError) throw new Error(JSON.stringify(result.content))
      return result.structuredContent
    },
    updated: heard,
    listChanged: () => heard('list'),
    toolsChanged: () => heard('tools'),
  }
}

/** Asks to be told of changes, in the way of the client's era. */
export async function subscribe({ client }: HttpClient, era: Era, uris: readonly string[]): Promise<void> {
  if (era === '2026-07-28') {
    await client.listen({ resourceSubscriptions: [...uris], resourcesListChanged: true })
    return
  }
  for (const uri of uris) await client.subscribeResource({ uri })
}
