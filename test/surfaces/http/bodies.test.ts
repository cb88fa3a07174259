import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { bodyLimits, readText } from '../../../src/surfaces/http/body.ts'
import { jsonMistake } from '../../../src/surfaces/http/json-mistake.ts'
import { type HttpProject, openHttpProject } from './http-project.ts'
import { closed, type RawAnswer, rawAnswer, requestText, sendRaw } from './raw.ts'

function post(project: HttpProject, headers: Readonly<Record<string, string>>, body: string) {
  const { port, agentToken } = project
  const own = { Host: `127.0.0.1:${port}`, Authorization: `Bearer ${agentToken}`, ...headers }
  return sendRaw(port, requestText('POST /api/start_mission', own, body))
}

function postJson(project: HttpProject, body: string): Promise<RawAnswer> {
  const length = String(Buffer.byteLength(body))
  return post(project, { 'Content-Type': 'application/json', 'Content-Length': length }, body)
}

const mission = JSON.stringify({ name: 'Shop', objective: 'A shop' })

test('a body of up to a megabyte is read', async () => {
  const project = await openHttpProject()
  const padded = mission.padEnd(1_000_000, ' ')
  expect((await postJson(project, padded)).status).toBe(200)
})

test('a larger one that says its length is refused before it is read', async () => {
  const project = await openHttpProject()
  const headers = { 'Content-Type': 'application/json', 'Content-Length': '1000001' }
  const { status, body } = await post(project, headers, mission)
  expect(status).toBe(413)
  expect(JSON.parse(body).error).toMatchObject({
    code: 'TOO_LARGE',
    reason: 'body_too_large',
    message: expect.stringMatching(/1000001 bytes.*1000000 bytes/),
  })
})

function requestHead(path: string, port: number, token: string): string {
  const headers = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`
  return `POST ${path} HTTP/1.1\r\n${headers}\r\n`
}

/** Sends chunks until the server closes the connection, and says how many bytes it sent. */
async function sendChunks(
  project: HttpProject,
  path: string,
): Promise<RawAnswer & { readonly sent: number }> {
  const { port, agentToken } = project
  const socket = connect(port, '127.0.0.1')
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  socket.on('error', () => undefined) // the server closes while we still send
  socket.write(`${requestHead(path, port, agentToken)}Transfer-Encoding: chunked\r\n\r\n`)
  let sent = 0
  let text = ''
  const send = () => {
    if (socket.destroyed || sent > 500_000_000) return
    sent += 0x10000
    socket.write(chunk, () => setImmediate(send))
  }
  socket.on('data', (data: Buffer) => {
    text += data.toString()
  })
  send()
  await closed(socket)
  return { ...rawAnswer(text), sent }
}

test.each(['/api/start_mission', '/mcp'])(
  'one that never says how long it is, is cut off: %s',
  async (path) => {
    const project = await openHttpProject()
    const { status, text, sent } = await sendChunks(project, path)
    expect(status).toBe(413)
    expect(text).toContain('at most 1000000 bytes are read')
    expect(sent).toBeLessThan(100_000_000)
  },
)

test.each([
  ['', {}],
  [' that says its length', { 'content-length': '3000000' }],
])(
  'the rest of a body%s is read, because closing on a client that sends loses the answer',
  async (_, headers) => {
    let left = 30
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (left === 0) return controller.close()
        left -= 1
        controller.enqueue(new Uint8Array(100_000))
      },
    })
    const init = { method: 'POST', headers, body, duplex: 'half' }
    const request = new Request('http://127.0.0.1/api/status', init)
    const refusal = await readText(request, bodyLimits).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ reason: 'body_too_large' })
    expect(refusal).not.toMatchObject({ headers: { Connection: 'close' } })
    await expect.poll(() => left).toBe(0)
  },
)

test('a client that leaves in the middle of its body is no defect', async () => {
  const project = await openHttpProject()
  const { port, agentToken, address, logged } = project
  const socket = connect(port, '127.0.0.1')
  const headers = { Host: `127.0.0.1:${port}`, Authorization: `Bearer ${agentToken}`, Expect: '100-continue' }
  const length = { 'Content-Type': 'application/json', 'Content-Length': '100' }
  socket.write(requestText('POST /api/status', { ...headers, ...length }))
  await once(socket, 'data')
  socket.write('{"a"')
  socket.resetAndDestroy()
  const answered = () => logged.some(({ fields }) => fields['route'] === '/api/status')
  while (!answered()) await fetch(`${address}/healthz`)
  expect(logged.filter(({ level }) => level === 'error')).toEqual([])
})

test('what is no JSON is refused with the place where it stops being JSON', async () => {
  const project = await openHttpProject()
  const { status, body } = await postJson(project, '{"name": "Shop",\n "objective": }')
  expect(status).toBe(400)
  expect(JSON.parse(body).error).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'body_not_json',
    message: expect.stringContaining('line 2, column 15: a value was expected, and there is "}"'),
  })
})

test.each([
  ['{', 'line 1, column 2: a name in quotes or } was expected, and the text ends'],
  ['{"a" 1}', 'line 1, column 6: a colon was expected, and there is "1"'],
  ['[1,]', 'line 1, column 4: a value was expected, and there is "]"'],
  ['[1 2]', 'line 1, column 4: a comma or a closing bracket was expected, and there is "2"'],
  ['{"a":1} x', 'line 1, column 9: the end was expected, and there is "x"'],
  [`{'a':1}`, `line 1, column 2: a name in quotes or } was expected, and there is "'"`],
  ['{"a":1,}', 'line 1, column 8: a name in quotes was expected, and there is "}"'],
  ['[}', 'line 1, column 2: a value or ] was expected, and there is "}"'],
  ['"a\nb"', 'line 1, column 1: a value was expected, and there is "\\""'],
  ['nul', 'line 1, column 1: a value was expected, and there is "n"'],
  ['', 'line 1, column 1: a value was expected, and the text ends'],
])('the mistake in %j is found', (text, words) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(jsonMistake(text)).toBe(words)
})

test('another type of content is refused by its name', async () => {
  const project = await openHttpProject()
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const headers = { 'Content-Type': type, 'Content-Length': String(mission.length) }
    const { status, body } = await post(project, headers, mission)
    expect(status).toBe(415)
    expect(JSON.parse(body).error).toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      reason: 'content_type_unsupported',
      message: expect.stringContaining(`"${type}"`),
    })
  }
  const without = await post(project, { 'Content-Length': String(mission.length) }, mission)
  expect(without.status).toBe(415)
  expect(JSON.parse(without.body).error).toMatchObject({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    reason: 'content_type_unsupported',
    message: expect.stringContaining('none'),
  })
})

test('JSON that is no object of fields is refused', async () => {
  const project = await openHttpProject()
  for (const body of ['[]', '"text"', '7', 'true']) {
    const answer = await postJson(project, body)
    expect([body, answer.status]).toEqual([body, 400])
    expect(answer.body).toContain('takes an object of named fields')
  }
})

test('text that is no UTF-8, and nesting without end, are refused and break nothing', async () => {
  const project = await openHttpProject()
  const { port, agentToken } = project
  const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
  const headers = {
    Host: `127.0.0.1:${port}`,
    Authorization: `Bearer ${agentToken}`,
    'Content-Type': 'application/json',
    'Content-Length': String(bytes.length),
  }
  const head = Buffer.from(requestText('POST /api/start_mission', headers))
  expect((await sendRaw(port, Buffer.concat([head, bytes]))).status).toBe(400)
  const deep = `{"name":${'['.repeat(400_000)}${']'.repeat(400_000)}}`
  expect((await postJson(project, deep)).status).toBe(400)
  expect((await postJson(project, '['.repeat(900_000))).status).toBe(400)
  expect((await postJson(project, mission)).status).toBe(200)
})

test('fields that would change what objects are, are fields like others', async () => {
  const project = await openHttpProject()
  const answer = await postJson(project, '{"name":"x","objective":"y","__proto__":{"kind":"person"}}')
  expect(answer.status).toBe(400)
  expect(answer.body).toContain('__proto__')
})
