import { once } from 'node:events'
import { lstatSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { keepOwnTokens } from '../../../src/people/operations/owner.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { TokenBuckets } from '../../../src/surfaces/http/auth/security.ts'
import { exportedEvents } from '../../support/exported-events.ts'
import { machinePeople, tokenIdOf } from '../../support/machine-people.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'
import { type HttpProject, jsonOf, openHttpProject } from './http-project.ts'

function call({ address }: HttpProject, path: string, token?: string, body?: object): Promise<Response> {
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  return fetch(`${address}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { ...authorization, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
}

/** The third part of a token; it may have an underscore itself. */
function secretOf(token: string): string {
  return token.split('_').slice(2).join('_')
}

test.each(['/api/session', '/api/projects', '/api/openapi.json', '/metrics', '/mcp', '/ws'])(
  '%s needs a token, and says so',
  async (path) => {
    const project = await openHttpProject()
    const response = await call(project, path)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('Bearer')
    const { error } = await jsonOf(response)
    expect(error).toMatchObject({ code: 'UNAUTHENTICATED', reason: 'token_missing' })
  },
)

test('health needs no token and says nothing that is secret', async () => {
  const project = await openHttpProject()
  const response = await call(project, '/healthz')
  expect(await jsonOf(response)).toEqual({
    status: 'ok',
    version: expect.any(String),
    projects: 1,
  })
})

test('a wrong token is refused, also where no token is needed', async () => {
  const project = await openHttpProject()
  for (const token of ['wrong', project.agentToken.slice(1), `${project.agentToken}x`, 'x'.repeat(5000)]) {
    expect((await call(project, '/api/session', token)).status).toBe(401)
  }
  expect((await call(project, '/healthz', 'wrong')).status).toBe(401)
  const basic = await fetch(`${project.address}/api/session`, { headers: { Authorization: 'Basic YTpi' } })
  expect(basic.status).toBe(401)
})

test('a token says who acts: an agent, or a person', async () => {
  const project = await openHttpProject()
  const agent = await jsonOf(call(project, '/api/session', project.agentToken))
  expect(agent.actor).toEqual({ name: 'agent', kind: 'agent', role: null, channel: 'http' })
  const person = await jsonOf(call(project, '/api/session', project.personToken))
  expect(person.actor).toEqual({ name: 'Tess', kind: 'person', role: null, channel: 'http' })
  expect(person.csrf).toBeNull()
})

test('what only people may decide is refused to the token of an agent', async () => {
  const project = await openHttpProject()
  const input = { id: 'h-nothing', answer: 'Yes' }
  const refused = await call(project, '/api/resolve', project.agentToken, input)
  expect(refused.status).toBe(403)
  expect((await jsonOf(refused)).error).toMatchObject({ code: 'FORBIDDEN', reason: 'person_needed' })
  const allowed = await call(project, '/api/resolve', project.personToken, input)
  expect(allowed.status).toBe(404)
  const code = await call(project, '/api/login-code', project.agentToken, {})
  expect(code.status).toBe(403)
})

test('what a token did is recorded under its name, role and channel', async () => {
  const project = await openHttpProject()
  const token = await project.people?.addToken({ name: 'ci', role: 'builder' })
  const mission = { name: 'Shop', objective: 'A shop' }
  expect((await call(project, '/api/start_mission', token, mission)).status).toBe(200)
  const { text } = await jsonOf(call(project, '/api/export', token, {}))
  expect(exportedEvents(text).at(-1).actor).toEqual({
    identity: `token:${tokenIdOf(token ?? '')}`,
    token: tokenIdOf(token ?? ''),
    person: expect.stringMatching(/^u-/),
    name: 'ci',
    kind: 'agent',
    role: 'builder',
    channel: 'http',
  })
})

test('a token that another process makes or revokes counts for a server that runs', async () => {
  const project = await openHttpProject()
  const beside = await machinePeople(serverEnvironment(project.home), () => project.contexts[0])
  onTestFinished(() => beside.team.store.close())
  const token = await beside.addToken({ name: 'ci' })
  expect((await call(project, '/api/session', token)).status).toBe(200)
  await beside.revokeToken('ci')
  await vi.waitFor(async () => expect((await call(project, '/api/session', token)).status).toBe(401), 5_000)
})

test('tokens are kept as hashes, in files that only their owner reads', async () => {
  const { home, personToken, agentToken } = await openHttpProject()
  const folder = join(home, 'state', 'waymark', 'server')
  for (const name of ['people.db', 'person.token', 'agent.token']) {
    expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
  }
  for (const name of readdirSync(folder).filter((found) => found.startsWith('people.db'))) {
    const kept = readFileSync(join(folder, name))
    for (const token of [personToken, agentToken])
      expect([name, kept.includes(secretOf(token))]).toEqual([name, false])
  }
  expect(readFileSync(join(folder, 'agent.token'), 'utf8').trim()).toBe(agentToken)
  expect(Buffer.from(secretOf(agentToken), 'base64url')).toHaveLength(32)
})

test('the two own tokens stay what they are, and are made anew where one is gone', async () => {
  const { people, agentToken, personToken } = await openHttpProject()
  if (!people) throw new Error('a single-user server has an owner')
  const keep = () => keepOwnTokens(people.team, people.team.owner, { at: Date.now(), ids: randomIds })
  expect(await keep()).toEqual({ agent: agentToken, person: personToken })
  await people.revokeToken(tokenIdOf(agentToken))
  const made = await keep()
  expect(made.person).toBe(personToken)
  expect(made.agent).not.toBe(agentToken)
  expect(people.team.owner.readToken('agent')).toBe(made.agent)
})

test('a link in the place of an own token is not followed, and replaced', async () => {
  const { home, people, personToken } = await openHttpProject()
  if (!people) throw new Error('a single-user server has an owner')
  const file = join(home, 'state', 'waymark', 'server', 'person.token')
  const elsewhere = join(home, 'elsewhere')
  renameSync(file, elsewhere)
  symlinkSync(elsewhere, file)
  const made = await keepOwnTokens(people.team, people.team.owner, { at: Date.now(), ids: randomIds })
  expect(made.person).not.toBe(personToken)
  expect(lstatSync(file).isFile()).toBe(true)
  expect(readFileSync(elsewhere, 'utf8').trim()).toBe(personToken)
})

test('who guesses tokens is told to wait, and nobody else', async () => {
  const project = await openHttpProject()
  // Where the clock goes on, another guess is allowed after six seconds.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const statuses: number[] = []
  let retryAfter: string | null = null
  for (let round = 0; round < 12; round += 1) {
    const response = await call(project, '/api/session', 'guess')
    statuses.push(response.status)
    retryAfter = response.headers.get('retry-after')
  }
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401))
  expect(statuses.slice(10)).toEqual([429, 429])
  expect(Number(retryAfter)).toBeGreaterThan(0)
  expect((await call(project, '/api/session', project.agentToken)).status).toBe(200)
})

test('too many requests of one client are refused until it waited', async () => {
  const slow = new TokenBuckets({ burst: 3, perSecond: 0.01 })
  const project = await openHttpProject({
    rates: { requests: slow, mistakes: new TokenBuckets({ burst: 10, perSecond: 1 }) },
  })
  const statuses: number[] = []
  for (let round = 0; round < 4; round += 1) {
    statuses.push((await call(project, '/api/session', project.agentToken)).status)
  }
  expect(statuses).toEqual([200, 200, 200, 429])
  expect((await call(project, '/api/session', project.personToken)).status).toBe(200)
})

test('a bucket fills again as time goes by', () => {
  const buckets = new TokenBuckets({ burst: 2, perSecond: 1 })
  expect([buckets.take('a', 0), buckets.take('a', 0), buckets.take('a', 0)]).toEqual([0, 0, 1])
  expect(buckets.take('b', 0)).toBe(0)
  expect(buckets.take('a', 1_000)).toBe(0)
  expect(buckets.take('a', 1_000)).toBe(1)
  expect([buckets.take('a', 60_000), buckets.take('a', 60_000), buckets.take('a', 60_000)]).toEqual([0, 0, 1])
})

test('no token is ever logged', async () => {
  const project = await openHttpProject()
  await call(project, '/api/session', project.agentToken)
  await call(project, '/api/start_mission', project.agentToken, { name: 'x' })
  await call(project, '/api/session', 'guess')
  const text = JSON.stringify(project.logged)
  for (const secret of [project.agentToken, project.personToken, 'guess']) expect(text).not.toContain(secret)
})

test('the person of a machine follows the name that git knows, and stays the same person', async () => {
  const { people, address, personToken } = await openHttpProject()
  if (!people) throw new Error('a single-user server has an owner')
  const whoami = async () => {
    const headers = { Authorization: `Bearer ${personToken}`, 'Content-Type': 'application/json' }
    return jsonOf(fetch(`${address}/api/whoami`, { method: 'POST', headers, body: '{}' }))
  }
  const before = await whoami()
  expect(before).toMatchObject({ name: 'Tess', person: { name: 'Tess' }, access: 'owner', admin: true })
  const renamed = { ...people.team.owner, name: () => 'Ann Example' }
  const kept = await keepOwnTokens(people.team, renamed, { at: Date.now(), ids: randomIds })
  expect(kept.person).toBe(personToken)
  await vi.waitFor(async () =>
    expect(await whoami()).toMatchObject({ name: 'Ann Example', person: { id: before.person.id } }),
  )
})

test('a token of a single-user server makes none that may more', async () => {
  const project = await openHttpProject()
  const token = await project.people?.addToken({
    name: 'short',
    kind: 'person',
    access: 'contributor',
    days: 1,
  })
  const requests = [{ access: 'owner' }, { days: 2 }, { admin: true, access: undefined }]
  for (const request of requests) {
    const input = { name: `more-${JSON.stringify(request)}`.replace(/\W/g, ''), kind: 'person', ...request }
    expect([request, (await call(project, '/api/token_create', token, input)).status]).toEqual([request, 403])
  }
  const same = await call(project, '/api/token_create', token, { name: 'same', kind: 'person' })
  expect(await jsonOf(same)).toMatchObject({ access: 'contributor', parent_id: tokenIdOf(token ?? '') })
})

test('an expired token lets nobody in, and ends what it opened', async () => {
  const project = await openHttpProject()
  const token = (await project.people?.addToken({ name: 'day', kind: 'person', days: 1 })) ?? ''
  const signIn = await fetch(`${project.address}/api/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const readers = [{ Authorization: `Bearer ${token}` }, { Cookie: cookie }].map(
    (headers) => new WebSocket(`ws://127.0.0.1:${project.port}/ws`, { headers }),
  )
  await Promise.all(readers.map((reader) => once(reader, 'message')))
  const closing = Promise.all(readers.map((reader) => once(reader, 'close')))
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  vi.setSystemTime(Date.now() + 25 * 60 * 60_000)
  expect((await closing).map(([code]) => code)).toEqual([4401, 4401])
  expect((await call(project, '/api/session', token)).status).toBe(401)
})
