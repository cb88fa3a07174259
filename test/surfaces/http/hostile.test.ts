import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { openHttpProject } from './http-project.ts'
import { closed, type RawAnswer, requestText, sendRaw } from './raw.ts'

function statusesIn({ text }: RawAnswer): readonly (string | undefined)[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
}

const mission = JSON.stringify({ name: 'Shop', objective: 'A shop' })

// Others who are served meanwhile are given the same time: more than a process of a busy machine stands still.
const impatient = { headers: 1_000, request: 1_500, look: 100 }

test('who sends headers or a body drop by drop is cut off, and others are served meanwhile', async () => {
  const { port, address, agentToken } = await openHttpProject({ patience: impatient })
  const slow = Array.from({ length: 20 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`)
    const dripping = setInterval(() => socket.write('X-Drop: 1\r\n'), 20)
    socket.on('close', () => clearInterval(dripping))
    return closed(socket)
  })
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `POST /api/status HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${agentToken}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
  )
  const dripping = setInterval(() => socket.write(' '), 20)
  expect((await fetch(`${address}/healthz`)).status).toBe(200)
  await Promise.all([...slow, closed(socket)])
  clearInterval(dripping)
})

test.each([
  ['no HTTP at all', 'HELLO\r\n\r\n'],
  ['binary', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 0, 0, 0])],
  ['two lengths', 'POST /api/status HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  [
    'a length and chunks',
    'POST /api/status HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a header without end', `GET / HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
])('%s is refused, and the server goes on', async (_, bytes) => {
  const { port, address } = await openHttpProject({ patience: impatient })
  const { status } = await sendRaw(port, bytes)
  expect(status).toBeGreaterThanOrEqual(400)
  expect(status).toBeLessThan(500)
  expect((await fetch(`${address}/healthz`)).status).toBe(200)
})

test('two Host headers are refused, whichever of them is ours', async () => {
  const { port } = await openHttpProject({ patience: impatient })
  const own = `Host: 127.0.0.1:${port}`
  for (const hosts of [`${own}\r\nHost: evil.example`, `${own}\r\nhost: 127.0.0.1:${port}`]) {
    const { status, body } = await sendRaw(
      port,
      `GET /healthz HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`,
    )
    expect([status, body]).toEqual([400, expect.stringContaining('one Host header, and this one has 2')])
  }
})

test('what follows a good request in one go is answered by what it is', async () => {
  const { port, address } = await openHttpProject({ patience: impatient })
  const good = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  const evil = `GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n`
  const last = requestText('GET /healthz', { Host: `127.0.0.1:${port}` })
  expect(statusesIn(await sendRaw(port, `${good}${evil}${last}`))).toEqual(['200', '403', '200'])
  // Node answers garbage at once and closes, whatever was asked before it.
  expect(statusesIn(await sendRaw(port, `${good}garbage\r\n\r\n`)).at(-1)).toBe('400')
  expect((await fetch(`${address}/healthz`)).status).toBe(200)
})

test('what was smuggled behind a body is no request of its own owner', async () => {
  const { port, agentToken } = await openHttpProject({ patience: impatient })
  const smuggled = `GET /api/session HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`
  const headers = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${agentToken}\r\nContent-Type: application/json`
  const answer = await sendRaw(
    port,
    `POST /api/status HTTP/1.1\r\n${headers}\r\nContent-Length: 2\r\n\r\n{}${smuggled}`,
  )
  expect(statusesIn(answer)).toEqual(['200', '401'])
})

test('a client that asks for HTTP/2 on the way is answered as any other', async () => {
  const { port, agentToken } = await openHttpProject()
  const headers = {
    Host: `127.0.0.1:${port}`,
    Authorization: `Bearer ${agentToken}`,
    Upgrade: 'h2c',
    'HTTP2-Settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
    'Content-Type': 'application/json',
    Connection: 'Upgrade, HTTP2-Settings',
    'Content-Length': String(mission.length),
  }
  // `requestText` adds `Connection: close`, and both count.
  const { status, body } = await sendRaw(port, requestText('POST /api/start_mission', headers, mission))
  expect([status, JSON.parse(body)]).toEqual([
    200,
    expect.objectContaining({ mission_id: expect.any(String) }),
  ])
})

test('an upgrade of what is no live feed is refused', async () => {
  const { port, agentToken } = await openHttpProject()
  const ask = (path: string, token = agentToken) =>
    sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    )
  expect((await ask('/api/status')).status).toBe(404)
  expect((await ask('/p/nothing/ws')).status).toBe(404)
  expect((await ask('/p/%zz/ws')).status).toBe(400)
  expect((await ask('/ws', 'wrong')).status).toBe(401)
})

test('paths that are no paths are refused in a sentence', async () => {
  const { port } = await openHttpProject()
  for (const path of ['/a\\b', '/%zz', '/%00', '//evil.example/', '/p/..%2f..%2fetc/api/status']) {
    const { status } = await sendRaw(port, requestText(`GET ${path}`, { Host: `127.0.0.1:${port}` }))
    expect(status).toBeLessThan(500)
  }
})
