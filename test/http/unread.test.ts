import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type HttpProject, openHttpProject } from './http-project.ts'
import { closed } from './raw.ts'

const asked = 200

/** Asks for a long answer many times, reads nothing for a while, and answers how many bytes came all the same. */
async function unread({ port, agentToken }: HttpProject, wait: number): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  const request = `GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${agentToken}\r\n\r\n`
  socket.write(request.repeat(asked))
  await sleep(wait)
  let bytes = 0
  socket.on('data', (data) => {
    bytes += data.length
  })
  await closed(socket)
  return bytes
}

test('whoever takes nothing of an answer is dropped, and others are served', async () => {
  const project = await openHttpProject({ unread: { stalled: 500, waiting: 48_000_000 } })
  const headers = { Authorization: `Bearer ${project.agentToken}` }
  const one = (await (await fetch(`${project.address}/api/openapi.json`, { headers })).arrayBuffer())
    .byteLength
  expect(await unread(project, 3_000)).toBeLessThan(one * asked)
  expect((await fetch(`${project.address}/healthz`)).status).toBe(200)
})

test('what waits for many readers together stays small: those for whom most waits are dropped first', async () => {
  const project = await openHttpProject({ unread: { stalled: 60_000, waiting: 48_000_000 } })
  const { address, port, agentToken } = project
  const before = process.memoryUsage.rss()
  const request = `GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${agentToken}\r\n\r\n`
  const readers = Array.from({ length: 20 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(request.repeat(asked))
    return socket
  })
  let most = 0
  for (let look = 0; look < 30; look += 1) {
    most = Math.max(most, process.memoryUsage.rss() - before)
    await sleep(100)
  }
  expect((await fetch(`${address}/healthz`)).status).toBe(200)
  const headers = { Authorization: `Bearer ${agentToken}` }
  const one = (await (await fetch(`${address}/api/openapi.json`, { headers })).arrayBuffer()).byteLength
  const taken = await Promise.all(
    readers.map(async (socket) => {
      let bytes = 0
      socket.on('data', (data) => {
        bytes += data.length
      })
      await Promise.race([closed(socket), sleep(5_000)])
      socket.destroy()
      return bytes
    }),
  )
  if (process.env['WAYMARK_TEST_TELL']) console.log({ one, asked, most, taken })
  // Without a limit, it would be the whole of what they asked for.
  expect(one * asked * readers.length).toBeGreaterThan(400_000_000)
  expect(taken.some((bytes) => bytes < one * asked)).toBe(true)
  expect(most).toBeLessThan(300_000_000)
})
