import { describe, expect, test } from 'vitest'
import { openHttpProject } from './http-project.ts'
import { requestText, sendRaw } from './raw.ts'

const upgrade = {
  Upgrade: 'websocket',
  Connection: 'Upgrade',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version': '13',
}

/** Like `requestText`, but for an upgrade. */
function upgradeText(path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...upgrade, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

describe('a page whose name was made to point here', () => {
  test.each(['/', '/healthz', '/api/session', '/mcp', '/metrics', '/login?code=x', '/p/shop/api/status'])(
    'is refused at %s, whatever token it has',
    async (path) => {
      const { port, personToken } = await openHttpProject()
      const headers = { Host: `evil.example:${port}`, Authorization: `Bearer ${personToken}` }
      const { status, body } = await sendRaw(port, requestText(`GET ${path}`, headers))
      expect(status).toBe(403)
      expect(JSON.parse(body).error).toMatchObject({ code: 'FORBIDDEN', reason: 'host_not_allowed' })
    },
  )

  test('is refused the live feed', async () => {
    const { port, personToken } = await openHttpProject()
    const headers = { Host: `evil.example:${port}`, Authorization: `Bearer ${personToken}` }
    const { status, body } = await sendRaw(port, upgradeText('/ws', headers))
    expect(status).toBe(403)
    expect(body).toContain('evil.example')
  })

  test('is refused when it names another port, no port, or an address that only looks like ours', async () => {
    const { port } = await openHttpProject()
    for (const host of [
      `127.0.0.1:${port + 1}`,
      '127.0.0.1',
      `127.0.0.1.evil.example:${port}`,
      `localhost.:${port}`,
    ]) {
      const { status } = await sendRaw(port, requestText('GET /healthz', { Host: host }))
      expect([host, status]).toEqual([host, 403])
    }
    // What is no host at all is no request.
    for (const host of ['', `[::1]evil:${port}`, `user@127.0.0.1:${port}`]) {
      const { status } = await sendRaw(port, requestText('GET /healthz', { Host: host }))
      expect([host, status]).toEqual([host, 400])
    }
  })

  test('is refused with an absolute address in the request line', async () => {
    const { port } = await openHttpProject()
    const line = `GET http://evil.example/healthz`
    const { status, body } = await sendRaw(port, requestText(line, { Host: `127.0.0.1:${port}` }))
    expect(status).toBe(400)
    expect(body).toContain('http://evil.example/healthz')
  })
})

test('this machine is called 127.0.0.1, localhost or [::1], and what --allow-host names', async () => {
  const { port } = await openHttpProject({ allowedHosts: ['build.example', 'proxy.example:443'] })
  const hosts = [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `[::1]:${port}`,
    'build.example',
    `build.example:${port}`,
    'proxy.example:443',
  ]
  for (const host of hosts) {
    const { status } = await sendRaw(port, requestText('GET /healthz', { Host: host }))
    expect([host, status]).toEqual([host, 200])
  }
  const other = await sendRaw(port, requestText('GET /healthz', { Host: 'proxy.example:444' }))
  expect(other.status).toBe(403)
})

describe('a page of another origin', () => {
  test.each([
    (port: number) => `http://127.0.0.1:${port + 1}`,
    (port: number) => `http://localhost:${port}`,
    () => 'https://evil.example',
    () => 'null',
  ])('is refused, and told its origin', async (originOf) => {
    const { port, personToken } = await openHttpProject()
    const origin = originOf(port)
    const headers = { Host: `127.0.0.1:${port}`, Origin: origin, Authorization: `Bearer ${personToken}` }
    const answer = await sendRaw(port, requestText('GET /api/session', headers))
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.body).error).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'origin_not_allowed',
      message: expect.stringContaining(`"${origin}"`),
    })
    expect(answer.headers.toLowerCase()).not.toContain('access-control')
    const live = await sendRaw(port, upgradeText('/ws', headers))
    expect(live.status).toBe(403)
    const preflight = await sendRaw(port, requestText('OPTIONS /api/status', headers))
    expect(preflight.status).toBe(403)
  })

  test('is refused where a browser sends no Origin but says that it is another site', async () => {
    const { port } = await openHttpProject()
    for (const site of ['same-site', 'cross-site']) {
      const headers = { Host: `127.0.0.1:${port}`, 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'no-cors' }
      expect((await sendRaw(port, requestText('GET /', headers))).status).toBe(403)
    }
    const link = {
      Host: `127.0.0.1:${port}`,
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
    }
    expect((await sendRaw(port, requestText('GET /', link))).status).toBe(200)
  })

  test('our own pages may ask, by any of our names', async () => {
    const { port, personToken } = await openHttpProject()
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      const headers = { Host: host, Origin: `http://${host}`, Authorization: `Bearer ${personToken}` }
      expect((await sendRaw(port, requestText('GET /api/session', headers))).status).toBe(200)
    }
  })
})
