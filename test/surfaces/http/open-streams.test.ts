import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { awakeTime } from '../../support/awake-time.ts'
import { tokenIdOf } from '../../support/machine-people.ts'
import { type HttpProject, jsonOf, openHttpProject } from './http-project.ts'

const limit = 1_000

async function added(
  { people }: HttpProject,
  name: string,
  kind: 'agent' | 'person' = 'agent',
): Promise<string> {
  return (await people?.addToken({ name, kind })) ?? ''
}

/** As another process does it. */
async function removed({ people }: HttpProject, name: string): Promise<void> {
  await people?.revokeToken(name)
}

async function readToEnd(response: Response): Promise<string> {
  return response.text().catch(() => 'broken off')
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function mcp(project: HttpProject, token: string, body: object, more: Record<string, string> = {}) {
  const method = 'method' in body ? String(body.method) : ''
  return fetch(`${project.address}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'Mcp-Method': method,
      ...more,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  })
}

async function session(project: HttpProject, token: string): Promise<Record<string, string>> {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'tests', version: '1' },
  }
  const begun = await mcp(project, token, { id: 1, method: 'initialize', params })
  await begun.text()
  const id = begun.headers.get('mcp-session-id') ?? ''
  const headers = { 'Mcp-Session-Id': id, 'Mcp-Protocol-Version': '2025-06-18' }
  await mcp(project, token, { method: 'notifications/initialized' }, headers)
  return headers
}

test('a removed token ends the live feed within a second, and no one else’s', async () => {
  const project = await openHttpProject()
  const read = async (token: string) => {
    const reader = new WebSocket(`ws://127.0.0.1:${project.port}/ws`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    await once(reader, 'message')
    return reader
  }
  const token = await added(project, 'maria', 'person')
  const [ended, kept] = [await read(token), await read(project.personToken)]
  const closing = once(ended, 'close')
  await removed(project, 'maria')
  expect(await awakeTime(closing)).toBeLessThan(limit)
  const [code, reason] = await closing
  expect([code, String(reason)]).toEqual([4401, 'Your token was revoked, or you signed out.'])
  expect(kept.readyState).toBe(kept.OPEN)
  kept.terminate()
})

test('a logout ends the live feed of that browser', async () => {
  const project = await openHttpProject()
  const code = project.server.security.codes.make(tokenIdOf(project.personToken), Date.now())
  const login = await fetch(`${project.address}/login?code=${code}`, { redirect: 'manual' })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { csrf } = await jsonOf(fetch(`${project.address}/api/session`, { headers: { Cookie: cookie } }))
  const reader = new WebSocket(`ws://127.0.0.1:${project.port}/ws`, { headers: { Cookie: cookie } })
  await once(reader, 'message')
  const closing = once(reader, 'close')
  const headers = { Cookie: cookie, 'X-Waymark-Csrf': csrf }
  await fetch(`${project.address}/api/logout`, { method: 'POST', headers })
  expect(await awakeTime(closing)).toBeLessThan(limit)
})

test('a removed token ends its MCP session with its stream, and the session is gone for a new one of that name', async () => {
  const project = await openHttpProject()
  const token = await added(project, 'ci')
  const headers = await session(project, token)
  const stream = await fetch(`${project.address}/mcp`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream', ...headers },
  })
  expect(stream.status).toBe(200)
  const ended = readToEnd(stream)
  await removed(project, 'ci')
  expect(await awakeTime(ended)).toBeLessThan(limit)
  const again = await mcp(project, await added(project, 'ci'), { id: 2, method: 'tools/list' }, headers)
  expect(again.status).toBe(404)
  expect((await mcp(project, token, { id: 3, method: 'tools/list' }, headers)).status).toBe(401)
})

test('a removed token ends its subscriptions of 2026-07-28', async () => {
  const project = await openHttpProject()
  const token = await added(project, 'ci')
  const stream = await mcp(
    project,
    token,
    {
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications: { resourcesListChanged: true }, _meta: envelope },
    },
    { 'Mcp-Protocol-Version': '2026-07-28' },
  )
  expect(stream.status).toBe(200)
  expect(stream.headers.get('content-type')).toContain('text/event-stream')
  const ended = readToEnd(stream)
  await removed(project, 'ci')
  expect(await awakeTime(ended)).toBeLessThan(limit)
})
