import { expect, test } from 'vitest'
import { amount } from '../../../support/amount.ts'
import { envelope, handshake } from '../eras.ts'
import { eventually } from './eventually.ts'
import { exchange, openSession, post, request, said } from './raw.ts'
import { serveProject } from './serving.ts'

test('what is no message is refused with the reason, and nothing ends', async () => {
  const { url } = await serveProject()
  const session = await openSession(url)
  const deep = '['.repeat(100_000)
  const refusals: readonly (readonly [number, Promise<Response>])[] = [
    [400, session.send('')],
    [400, session.send('{"jsonrpc":')],
    [400, session.send(deep)],
    [400, session.send('null')],
    [400, session.send('"tools/list"')],
    [400, session.send([])],
    [400, session.send(Array.from({ length: 101 }, (_, id) => request('ping', {}, id)))],
    [400, session.send({ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' })],
    [413, session.send(request('ping', { padding: 'x'.repeat(5 * 1024 * 1024) }))],
    [415, session.send(request('ping'), { 'Content-Type': 'text/plain' })],
    [406, session.send(request('ping'), { Accept: 'text/html' })],
    [400, session.send(request('ping'), { 'MCP-Protocol-Version': '1999-01-01' })],
    [400, post(url, request('ping'))],
    [404, post(url, request('ping'), { 'Mcp-Session-Id': '../../etc/passwd' })],
    [405, fetch(url)],
    [405, fetch(url, { method: 'DELETE' })],
    [405, fetch(url, { method: 'PUT', body: '{}' })],
    [400, post(url, [request('initialize', handshake), request('initialize', handshake)])],
  ]
  for (const [status, refusal] of refusals) {
    const response = await refusal
    expect(response.status).toBe(status)
    expect((await said(response)).error.message.length).toBeGreaterThan(5)
  }
  expect((await said(await session.send(request('ping')))).result).toEqual({})
})

test('a stream for notifications needs the Accept header', async () => {
  const { url } = await serveProject()
  const { id } = await openSession(url)
  const headers = { Authorization: 'Bearer agent', 'Mcp-Session-Id': id, Accept: 'application/json' }
  expect((await fetch(url, { headers })).status).toBe(406)
})

test('a batch of the older era is answered whole', async () => {
  const { url } = await serveProject()
  const session = await openSession(url)
  const response = await session.send([request('ping', {}, 'a'), request('ping', {}, 'b')])
  const text = await response.text()
  expect(text).toContain('"id":"a"')
  expect(text).toContain('"id":"b"')
})

test('2026-07-28: headers that contradict the message are refused', async () => {
  const { url } = await serveProject()
  const message = request('tools/call', { name: 'list_missions', arguments: {}, _meta: envelope })
  const right = {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'list_missions',
  }
  expect((await post(url, message, right)).status).toBe(200)
  for (const wrong of [{ 'Mcp-Method': 'tools/list' }, { 'Mcp-Name': 'start_task' }, { 'Mcp-Name': '' }]) {
    const response = await post(url, message, { ...right, ...wrong })
    expect(response.status).toBe(400)
    expect((await said(response)).error.code).toBe(-32020)
  }
  const unknown = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
  const answer = await post(
    url,
    { ...message, params: { ...message.params, _meta: unknown } },
    { ...right, 'MCP-Protocol-Version': '2099-01-01' },
  )
  expect((await said(answer)).error).toMatchObject({ code: -32022, data: { supported: ['2026-07-28'] } })
})

test('arguments that are no object are refused with a sentence in both eras', async () => {
  const { url } = await serveProject()
  const params = { name: 'list_missions', arguments: ['a'] }
  const session = await openSession(url)
  const answers = [
    await session.send(request('tools/call', params)),
    await exchange(url, 'tools/call', params),
  ]
  for (const answer of answers) {
    expect((await said(answer)).error).toEqual({
      code: -32602,
      message: 'Invalid arguments: "arguments" must be an object of named fields, not ["a"].',
    })
  }
})

test('many calls at once are all answered, over one session and without one', async () => {
  const { url } = await serveProject()
  const session = await openSession(url)
  const params = { name: 'list_missions', arguments: {} }
  const calls = amount({ test: 25, soak: 500 })
  const answers = await Promise.all(
    Array.from({ length: calls }, (_, id) => [
      session.send(request('tools/call', params, id)).then(said),
      exchange(url, 'tools/call', params).then(said),
    ]).flat(),
  )
  expect(answers.filter(({ result }) => result?.isError === false).length).toBe(2 * calls)
})

test('a client that vanishes before its answer leaves the work done and the session usable', async () => {
  const { url, project } = await serveProject()
  const session = await openSession(url)
  for (let n = 0; n < amount({ test: 8, soak: 20 }); n += 1) {
    const leaving = new AbortController()
    const call = request(
      'tools/call',
      { name: 'start_mission', arguments: { name: `m${n}`, objective: 'o' } },
      n,
    )
    const sent = fetch(url, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: 'Bearer agent',
        'Mcp-Session-Id': session.id,
      },
      body: JSON.stringify(call),
    })
    setTimeout(() => leaving.abort(), n)
    await sent.then((response) => response.text()).catch(() => undefined)
  }
  const params = { name: 'list_missions', arguments: { status: 'all' } }
  // Of the last one that vanished, the server may still hear.
  await eventually(async () => {
    const answer = await said(await session.send(request('tools/call', params, 'last')))
    const { total } = await project.call('list_missions', { status: 'all' })
    return answer.result.structuredContent.total === total
  })
})

test('a client that vanishes from its subscription leaves room for another', async () => {
  const { url } = await serveProject({ limits: { subscriptions: 1 } })
  const listen = async () => {
    const params = { notifications: { resourcesListChanged: true }, _meta: envelope }
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' }
    return post(url, request('subscriptions/listen', params), headers)
  }
  const first = await listen()
  expect(first.headers.get('content-type')).toBe('text/event-stream')
  const refused = await listen()
  expect((await said(refused)).error.message).toBe('Subscription limit reached')
  await first.body?.cancel()
  await eventually(async () => {
    const again = await listen()
    await again.body?.cancel()
    return again.headers.get('content-type') === 'text/event-stream'
  })
})
