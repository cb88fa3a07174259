import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agentMachine, connectedMachine, teamServer } from './machines.ts'

/** A server of the test's own. */
async function listening(
  answer: (asked: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('cases 32 and 40: a token goes to its own origin alone; new tools are shown, and what is lacking is said', async () => {
  const heard: string[] = []
  const stranger = await listening((asked, response) => {
    heard.push(`${asked.url} ${asked.headers.authorization}`)
    response.end('{}')
  })
  const server = await teamServer()
  const token = server.newToken('ada')
  const machine = connectedMachine(server, token)
  machine.write('.waymark/server', `${stranger}/p/shop\n`)
  expect(machine.refused('task', 'list')).toMatchObject({ code: 'REFUSED', reason: 'server_not_connected' })
  machine.environment['WAYMARK_TOKEN'] = token
  expect(machine.refused('task', 'list')).toMatchObject({ code: 'REFUSED', reason: 'server_not_connected' })
  machine.write('.waymark/server', 'http://waymark.example.com/p/shop\n')
  expect(machine.refused('task', 'list')).toMatchObject({ code: 'REFUSED', reason: 'address_not_encrypted' })
  expect(heard).toEqual([])
  // Named by the person who also gives the token, it is where that token goes.
  delete machine.environment['WAYMARK_TOKEN']
  const other = agentMachine()
  Object.assign(other.environment, { WAYMARK_TOKEN: token, WAYMARK_SERVER: server.address })
  expect(other.run('status').out).toContain(other.folder)

  const newer = await listening((asked, response) => {
    const upstream = new URL(asked.url ?? '/', server.address)
    const passed = request(
      upstream,
      { method: asked.method, headers: { ...asked.headers, host: upstream.host } },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          response.statusCode = answer.statusCode ?? 500
          response.end(asked.url?.includes('/api/catalog') ? withTool(text) : text)
        })
      },
    )
    asked.pipe(passed)
  })
  const old = agentMachine()
  Object.assign(old.environment, { WAYMARK_TOKEN: token, WAYMARK_SERVER: newer })
  const agent = await old.connect()
  const { tools } = await agent.client.listTools()
  expect(tools.map(({ name }) => name)).toContain('tool_of_tomorrow')
  await expect(agent.call('tool_of_tomorrow')).rejects.toThrow('Unknown tool: tool_of_tomorrow')

  const lacking = await fetch(`${server.address}/api/machines/call`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      contract: 0,
      version: '0.0.1',
      machine: { key: 'a'.repeat(64), name: 'old' },
      call: 'a-call-of-an-old-edge',
      folder: '/somewhere',
      channel: 'stdio',
      caller: 'agent',
      operation: 'status',
    }),
  })
  expect(lacking.status).toBe(426)
  expect(await lacking.json()).toMatchObject({
    error: { code: 'UPGRADE_REQUIRED', details: { version: expect.any(String) } },
  })
})

test('a client of a folder whose server is not known here is told at each call, until it is connected', async () => {
  const server = await teamServer()
  const machine = agentMachine()
  machine.write('.waymark/server', `${server.address}/p/shop\n`)
  const agent = await machine.connect()
  const { tools } = await agent.client.listTools()
  expect(tools.map(({ name }) => name)).toContain('start_task')
  const asked = () => agent.refused('start_mission', { name: 'M', objective: 'It works' })
  const sentence = `names ${server.address}, for which there is no token on this machine`
  const refused = await asked()
  expect(refused).toMatchObject({ code: 'REFUSED', reason: 'server_not_connected' })
  await expect(agent.client.listResources()).rejects.toThrow(sentence)
  expect(await asked()).toMatchObject({ code: 'REFUSED', reason: 'server_not_connected' })

  machine.environment['WAYMARK_TOKEN'] = server.newToken('ada')
  expect(machine.run('connect', server.address).code).toBe(0)
  expect(await agent.call('start_mission', { name: 'M', objective: 'It works' })).toMatchObject({
    mission_id: expect.any(String),
  })
  expect((await server.log()).map(({ body }) => body.kind)).toContain('mission.started')

  const elsewhere = agentMachine()
  elsewhere.write('.waymark/server', 'http://waymark.example.com/p/shop\n')
  const other = await elsewhere.connect()
  expect(await other.refused('status')).toMatchObject({ code: 'REFUSED', reason: 'address_not_encrypted' })
  // Nothing was opened here, where the record would not belong.
  expect(existsSync(join(elsewhere.folder, '.waymark', 'waymark.db'))).toBe(false)
})

function withTool(text: string): string {
  const said = JSON.parse(text)
  const made = { name: 'tool_of_tomorrow', inputSchema: { type: 'object' }, description: 'New' }
  return JSON.stringify({ ...said, tools: [...said.tools, made] })
}
