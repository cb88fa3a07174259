import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { TokenBuckets } from '../../src/surfaces/http/guard/security.ts'
import { TokenFile } from '../../src/surfaces/http/guard/tokens.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type HttpProject, jsonOf, openHttpProject } from './http-project.ts'

function call({ address }: HttpProject, path: string, token?: string, body?: object): Promise<Response> {
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  return fetch(`${address}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { ...authorization, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
}

test.each(['/api/session', '/api/projects', '/api/journal', '/api/openapi.json', '/metrics', '/mcp', '/ws'])(
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
  const { tokens } = project.server.security
  const token = tokens.add({ name: 'ci', kind: 'agent', role: 'builder', explicit: true })
  const mission = { name: 'Shop', objective: 'A shop' }
  expect((await call(project, '/api/start_mission', token, mission)).status).toBe(200)
  const { facts } = await jsonOf(call(project, '/api/journal', token))
  expect(facts.at(-1).actor).toEqual({
    identity: expect.stringMatching(/^token:[0-9a-f]{16}$/),
    name: 'ci',
    kind: 'agent',
    role: 'builder',
    channel: 'http',
  })
})

test('a token that was added or removed counts at once for a server that runs', async () => {
  const project = await openHttpProject()
  const beside = new TokenFile(join(project.home, 'server'))
  const token = beside.add({ name: 'ci', kind: 'agent', role: null, explicit: true })
  expect((await call(project, '/api/session', token)).status).toBe(200)
  beside.remove('ci')
  expect((await call(project, '/api/session', token)).status).toBe(401)
})

test('tokens are kept as hashes, in files that only their owner reads', async () => {
  const { home, personToken, agentToken } = await openHttpProject()
  const folder = join(home, 'server')
  for (const name of ['tokens.json', 'person.token', 'agent.token']) {
    expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
  }
  const kept = readFileSync(join(folder, 'tokens.json'), 'utf8')
  expect(kept).not.toContain(personToken)
  expect(kept).not.toContain(agentToken)
  expect(readFileSync(join(folder, 'agent.token'), 'utf8').trim()).toBe(agentToken)
  expect(Buffer.from(agentToken, 'base64url')).toHaveLength(32)
})

test('the two own tokens stay what they are, and are made anew where a file is gone', async () => {
  const { home, agentToken } = await openHttpProject()
  const tokens = new TokenFile(join(home, 'server'))
  expect(tokens.ownToken('agent', 'agent')).toBe(agentToken)
  tokens.remove('agent')
  const made = tokens.ownToken('agent', 'agent')
  expect(made).not.toBe(agentToken)
  expect(tokens.entries().map(({ name }) => name)).toEqual(['Tess', 'agent'])
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

test('the server’s own token follows a new name of its person, and takes nobody else’s', () => {
  const tokens = new TokenFile(temporaryFolder())
  const secret = tokens.ownToken('person', 'root')
  expect(tokens.ownToken('person', 'Ann Example')).toBe(secret)
  expect(tokens.entries()).toMatchObject([{ name: 'Ann Example', kind: 'person', explicit: false }])
  tokens.ownToken('agent', 'agent')
  expect(tokens.ownToken('person', 'agent')).toBe(secret)
  expect(tokens.entries().map(({ name }) => name)).toEqual(['Ann Example', 'agent'])
})
