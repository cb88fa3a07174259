import { expect, test } from 'vitest'
import { handshake } from '../eras.ts'
import { eventually } from './eventually.ts'
import { openSession, post, request, said } from './raw.ts'
import { serveProject } from './serving.ts'

const list = request('tools/list')

test('a session serves its requests until it is ended', async () => {
  const { url } = await serveProject()
  const session = await openSession(url)
  expect((await said(await session.send(list))).result.tools.length).toBeGreaterThan(10)
  expect((await session.end()).status).toBe(200)
  expect((await session.send(list)).status).toBe(404)
  expect((await session.stream()).status).toBe(404)
})

test('a session of another token is not found, whether it exists or not', async () => {
  const { url } = await serveProject()
  const session = await openSession(url, 'ada')
  const forged = { Authorization: 'Bearer grace' }
  const answers = [
    await session.send(list, forged),
    await session.send(list, { ...forged, 'Mcp-Session-Id': crypto.randomUUID() }),
    await fetch(url, { method: 'DELETE', headers: { ...forged, 'Mcp-Session-Id': session.id } }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  const [known, unknown] = await Promise.all(answers.slice(0, 2).map(said))
  expect(known).toEqual(unknown)
  expect(known.error).toMatchObject({ code: -32001, message: expect.stringContaining('initialize again') })
  expect((await session.send(list)).status).toBe(200)
})

test('there are no more sessions than allowed: the one that was not used for longest makes room', async () => {
  const { url } = await serveProject({ limits: { sessions: 2 } })
  const [first, second] = [await openSession(url), await openSession(url)]
  await said(await first.send(list))
  const third = await openSession(url)
  const statuses = await Promise.all(
    [first, second, third].map(async ({ send }) => (await send(list)).status),
  )
  expect(statuses).toEqual([200, 404, 200])
})

test('sessions whose stream is open make no room', async () => {
  const { url } = await serveProject({ limits: { sessions: 1 } })
  const session = await openSession(url)
  const leaving = new AbortController()
  await session.stream(leaving.signal)
  const refused = await post(url, request('initialize', handshake))
  expect(refused.status).toBe(503)
  expect((await said(refused)).error.message).toContain('1 sessions are open')
  leaving.abort()
  // A client that vanishes is noticed by its connection.
  await eventually(async () => {
    const response = await post(url, request('initialize', handshake))
    await response.text()
    return response.status === 200
  })
})

test('a session that nobody uses ends', async () => {
  const { url } = await serveProject({ limits: { idle: 0 } })
  const first = await openSession(url)
  await openSession(url)
  expect((await first.send(list)).status).toBe(404)
})

test('an unknown newer version is answered with the newest that has sessions', async () => {
  const { url } = await serveProject()
  const answer = await post(url, request('initialize', { ...handshake, protocolVersion: '2099-01-01' }))
  expect((await said(answer)).result.protocolVersion).toBe('2025-11-25')
})

test('calls of one session are done in their order, although nobody waits for an answer', async () => {
  const { url } = await serveProject()
  const session = await openSession(url)
  const call = (name: string, input: object, id: number) =>
    session.send(request('tools/call', { name, arguments: input }, id)).then(said)
  const made = Array.from({ length: 20 }, (_, n) =>
    call('taskman_phase_add', { id: `P${n}`, name: `Phase ${n}` }, n),
  )
  const listed = call('taskman_phase_list', {}, 99)
  await Promise.all(made)
  expect((await listed).result.structuredContent.total).toBe(20)
})
