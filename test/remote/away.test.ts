import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ServerClient } from '../../src/remote/machine/server-client.ts'
import { awakeTime } from '../support/awake-time.ts'
import { connectedMachine, teamServer } from './machines.ts'

test('a call fails while the server is away, and is recorded once when it is made again', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const agent = await machine.connect()
  const { task_id } = await agent.call('start_task', { name: 'Sign in' })
  server.child.kill('SIGKILL')
  await server.ended
  const said = { task_id, message: 'half way' }
  for (const [tool, input] of [
    ['log_milestone', said],
    ['list_missions', {}],
  ] as const) {
    const result = await agent.client.callTool({ name: tool, arguments: input })
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'UNAVAILABLE', reason: 'server_unreachable' } },
    })
    expect(JSON.stringify(result.content)).toContain(
      `The server ${server.address} cannot be reached; nothing was recorded. Try again.`,
    )
  }
  await server.again()
  await agent.call('log_milestone', said)
  const logged = JSON.stringify(await server.log()).split('half way').length - 1
  expect(logged).toBe(1)
})

test('a server that takes a call and never answers is waited for no longer than the limit', async () => {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const origin = `http://127.0.0.1:${port}`
  const client = new ServerClient(
    { origin, project: null, token: 'wm1_of_a_test', trustsCommands: false },
    { timeout: 200 },
  )
  onTestFinished(() => {
    client.close()
    server.closeAllConnections()
    server.close()
  })
  const asked = expect(client.post('/api/machines/call', {})).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    reason: 'server_silent',
    details: { server: origin },
  })
  expect(await awakeTime(asked)).toBeLessThan(5_000)
})

test('an answer without end is not read to its end', async () => {
  const part = Buffer.alloc(1_000_000, 'a')
  let sent = 0
  const server = createServer((_, response) => {
    const write = () => {
      while (!response.destroyed && response.write(part)) sent += part.length
    }
    response.on('drain', write)
    write()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const client = new ServerClient({
    origin: `http://127.0.0.1:${port}`,
    project: null,
    token: 'wm1_of_a_test',
    trustsCommands: false,
  })
  onTestFinished(() => {
    client.close()
    server.closeAllConnections()
    server.close()
  })
  await expect(client.get('/api/session')).rejects.toMatchObject({
    code: 'REFUSED',
    reason: 'answer_too_large',
  })
  expect(sent).toBeLessThan(200_000_000)
})
