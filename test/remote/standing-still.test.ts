import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ServerClient } from '../../src/remote/machine/server-client.ts'

test('a machine that stood still longer than is waited for hears first whether the server is there', async () => {
  const server = createServer((_, response) => response.end('{"here":true}'))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const token = 'wm1_of_a_test'
  const client = new ServerClient({
    origin: `http://127.0.0.1:${port}`,
    project: null,
    token,
    trustsCommands: false,
  })
  onTestFinished(() => {
    client.close()
    server.closeAllConnections()
    server.close()
  })
  const asked = client.get('/api/session', { within: 50 })
  await new Promise((resolve) => process.nextTick(resolve))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  expect(await asked).toEqual({ here: true })
})
