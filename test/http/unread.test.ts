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
  expect(await unread(project, 2_500)).toBeLessThan(one * asked)
  expect((await fetch(`${project.address}/healthz`)).status).toBe(200)
})
