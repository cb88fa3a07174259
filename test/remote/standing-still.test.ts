import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ServerClient } from '../../src/remote/machine/server-client.ts'

/** A call with a limit of ten seconds that waits for its answer, on a clock that only the test moves. */
async function waitingCall() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const client = new ServerClient({
    origin: `http://127.0.0.1:${port}`,
    project: null,
    token: 'wm1_of_a_test',
    trustsCommands: false,
  })
  onTestFinished(() => {
    vi.useRealTimers()
    client.close()
    server.closeAllConnections()
    server.close()
  })
  const answer = client.get('/api/session', { within: 10_000 })
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse] // as a server of Node says it
  return { answer, response }
}

/** Moves the clock past the limit while no timer runs, then lets the timers run that were due. */
function standStill() {
  const began = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => began + 60_000)
  vi.advanceTimersByTime(10_000)
  clock.mockRestore()
}

test('a machine that stood still longer than is waited for hears first whether the server is there', async () => {
  const { answer, response } = await waitingCall()
  standStill()
  response.end('{"here":true}')
  expect(await answer).toEqual({ here: true })
})

test('a call gives up when its time is over, and when the machine stood still a second time', async () => {
  const inTime = await waitingCall()
  vi.advanceTimersByTime(10_000)
  await expect(inTime.answer).rejects.toMatchObject({ reason: 'server_silent' })
  const twice = await waitingCall()
  standStill()
  standStill()
  await expect(twice.answer).rejects.toMatchObject({ reason: 'server_silent' })
})
