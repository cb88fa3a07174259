import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { TokenBuckets, teamRates } from '../../src/surfaces/http/auth/security.ts'
import { exportedEvents } from '../support/exported-events.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { person } from '../support/project.ts'
import { runningClock } from '../support/running-clock.ts'
import { jsonOf, openHttpProject } from '../surfaces/http/http-project.ts'
import { openTeam, type TeamServer } from './team-server.ts'

/** Ada is an admin, Ben a contributor of the first project, who has an agent. */
async function withBen(team: TeamServer) {
  const { call } = team
  const { secret: ada } = await call('token_create', { admin: true, person: 'Ada' })
  await call('person_add', { name: 'Ben' })
  await call('member_add', { person: 'Ben', access: 'contributor' })
  const { secret: ben } = await call('token_create', { kind: 'person', person: 'Ben' })
  const made = await call('token_create', { name: 'builder', person: 'Ben' })
  return { ada, ben, builder: made.secret, builderId: made.id }
}

test('a token of the database lets its person in, and what they do is recorded as theirs', async () => {
  const team = await openTeam()
  const { ada, ben, builder } = await withBen(team)
  expect(await jsonOf(team.ask(ada, '/api/session'))).toMatchObject({
    actor: { name: 'Ada', kind: 'person', channel: 'http' },
    permissions: { person: { name: 'Ada' }, access: 'owner', admin: true },
  })
  expect(await jsonOf(team.ask(ben, '/api/session'))).toMatchObject({
    actor: { name: 'Ben', kind: 'person' },
    permissions: { access: 'contributor', admin: false },
  })
  expect((await team.ask(builder, '/api/start_mission', { name: 'Shop', objective: 'A shop' })).status).toBe(
    200,
  )
  const { text } = await jsonOf(team.ask(ben, '/api/export', {}))
  const who = await jsonOf(team.ask(builder, '/api/whoami', {}))
  expect(who).toMatchObject({
    name: 'builder',
    kind: 'agent',
    person: { name: 'Ben' },
    access: 'contributor',
  })
  expect(exportedEvents(text).at(-1).actor).toEqual({
    name: 'builder',
    kind: 'agent',
    role: null,
    channel: 'http',
    identity: `token:${who.token_id}`,
    token: who.token_id,
    person: who.person.id,
  })
})

test('a token that expired or was revoked, a wrong secret of a right id and a token of this machine are refused (23)', async () => {
  const team = await openTeam()
  const { builder, ben, builderId } = await withBen(team)
  const wrong = `${builder.slice(0, -1)}${builder.endsWith('A') ? 'B' : 'A'}`
  for (const token of [
    wrong,
    builder.slice(0, 30),
    'wm1_000000000000_nothing',
    team.personToken,
    team.agentToken,
  ]) {
    const response = await team.ask(token, '/api/session')
    expect([token, response.status]).toEqual([token, 401])
  }
  expect((await team.ask(builder, '/api/session')).status).toBe(200)
  await team.call('token_revoke', { token: builderId })
  await expect.poll(async () => (await team.ask(builder, '/api/session')).status).toBe(401)
  expect((await team.ask(ben, '/api/session')).status).toBe(200)
  const [context] = team.contexts
  const lasting = async (left: number) => {
    const clock = { now: () => Date.now() - 86_400_000 + left }
    const operation = catalog.find(({ name }) => name === 'token_create') ?? raise()
    const input = { name: `for ${left} ms`, person: 'Ben', days: 1 }
    const { secret } = await invoke(operation, { ...context, actor: person, clock }, input)
    return async () => (await team.ask(String(secret), '/api/session')).status
  }
  // On a busy machine a second may be over before anybody can ask.
  let left = 400
  let short = await lasting(left)
  while ((await short()) !== 200 && left < 24_000) {
    left *= 2
    short = await lasting(left)
  }
  expect(left).toBeLessThan(24_000)
  await expect.poll(short).toBe(401)
})

function raise(): never {
  throw new Error('it is there')
}

test('a project that somebody is no member of is as if it were not there (23)', async () => {
  const team = await openTeam({ folders: ['shop', 'api'] })
  const { ben, builder, ada } = await withBen(team)
  await team.call('member_add', { person: 'Ada', access: 'owner' }, 1)
  for (const token of [ben, builder]) {
    expect((await team.ask(token, '/p/shop/api/session')).status).toBe(200)
    const there = await team.ask(token, '/p/api/api/session')
    const nowhere = await team.ask(token, '/p/none/api/session')
    expect([there.status, nowhere.status]).toEqual([404, 404])
    const said = (await jsonOf(there)).error
    expect(said).toEqual({ ...(await jsonOf(nowhere)).error, message: 'There is no project "api" here.' })
    expect(await jsonOf(team.ask(token, '/api/projects'))).toMatchObject({ projects: [{ key: 'shop' }] })
    expect((await team.ask(token, '/p/api/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404)
    const reader = new WebSocket(`ws://127.0.0.1:${team.port}/p/api/ws`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    const [failed] = await once(reader, 'error').catch((error: unknown) => [error])
    expect(String(failed)).toContain('404')
  }
  expect((await jsonOf(team.ask(ada, '/api/projects'))).projects).toHaveLength(2)
  // A token for one project opens no other, whatever its person may.
  const one = await team.call('token_create', { name: 'one', person: 'Ada' }, 1)
  expect((await team.ask(one.secret, '/p/api/api/session')).status).toBe(200)
  expect((await team.ask(one.secret, '/p/shop/api/session')).status).toBe(404)
})

test('access is asked over HTTP and MCP alike (26)', async () => {
  const team = await openTeam()
  const { ben } = await withBen(team)
  await team.call('member_set', { person: 'Ben', access: 'viewer' })
  await expect.poll(async () => (await jsonOf(team.ask(ben, '/api/whoami', {}))).access).toBe('viewer')
  const refused = await team.ask(ben, '/api/start_mission', { name: 'A' })
  expect(refused.status).toBe(403)
  expect((await jsonOf(refused)).error).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'access_too_low',
    message: expect.stringMatching(/start_mission.*contributor.*Ben.*viewer/),
  })
  expect((await team.ask(ben, '/api/list_missions', {})).status).toBe(200)
  const { secret: looks } = await team.call('token_create', {
    name: 'looks',
    kind: 'person',
    person: 'Ada',
    access: 'viewer',
  })
  expect((await team.ask(looks, '/api/list_missions', {})).status).toBe(200)
  const onlyRead = await jsonOf(team.ask(looks, '/api/start_mission', { name: 'A' }))
  expect(onlyRead.error).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'token_read_only',
    message: expect.stringContaining('start_mission'),
  })
  const { permissions } = await jsonOf(team.ask(looks, '/api/session'))
  expect(permissions).toMatchObject({ access: 'viewer', max_access: 'viewer', admin: false })
  expect(Object.keys(permissions.refused)).toEqual(expect.arrayContaining(['notify_add', 'person_add']))
  expect(Object.keys(permissions.refused)).not.toContain('list_missions')
  const { secret: agent } = await team.call('token_create', { name: 'reader', person: 'Ben' })
  const tool = await team.ask(
    agent,
    '/mcp',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'start_mission', arguments: { name: 'A', objective: 'B' }, _meta: envelope },
    },
    {
      Accept: 'application/json, text/event-stream',
      'Mcp-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'start_mission',
    },
  )
  expect(await tool.text()).toContain('needs contributor access, and Ben has viewer')
  const projectEvents = await team.contexts[0].store.view(({ eventLog: log }) => log.since(0, 100))
  expect(projectEvents.map(({ body }) => body.kind)).toEqual(['project.created', 'member.set', 'member.set'])
})

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

test('a token that is revoked at one server is refused by another, and what it has open there ends within 5 seconds (25)', async () => {
  const home = temporaryFolder()
  const one = await openTeam({ home })
  const other = await openTeam({ home })
  const { builder, ben, builderId } = await withBen(one)
  const read = async (token: string) => {
    const reader = new WebSocket(`ws://127.0.0.1:${other.port}/ws`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    onTestFinished(() => reader.terminate())
    await once(reader, 'message')
    return reader
  }
  const [ended, kept] = [await read(builder), await read(ben)]
  const closing = once(ended, 'close')
  const clock = runningClock()
  const startedAt = clock()
  expect((await one.ask(ben, '/api/token_revoke', { token: builderId })).status).toBe(200)
  const [code] = await closing
  expect(code).toBe(4401)
  expect(clock() - startedAt).toBeLessThan(5_000)
  expect((await other.ask(builder, '/api/session')).status).toBe(401)
  expect(kept.readyState).toBe(kept.OPEN)
  const changing = once(kept, 'close')
  const changedAt = clock()
  await one.call('member_set', { person: 'Ben', access: 'viewer' })
  await changing
  expect(clock() - changedAt).toBeLessThan(5_000)
  await one.call('person_disable', { person: 'Ben' })
  await expect.poll(async () => (await other.ask(ben, '/api/session')).status).toBe(401)
})

test('of 300 calls in a second by one token 50 are refused, and those of another token are not (29)', () => {
  const { requests } = teamRates()
  const waits = Array.from({ length: 300 }, (_, at) => requests.take('one', (at / 299) * 1_000))
  expect(waits.filter((seconds) => seconds === 0).length).toBeCloseTo(250, -1)
  expect(waits.slice(0, 200).every((seconds) => seconds === 0)).toBe(true)
  expect(requests.take('other', 1_000)).toBe(0)
})

/** Gives nothing back while a slow machine is at work. */
function withoutTime(buckets: TokenBuckets): TokenBuckets {
  const take = buckets.take.bind(buckets)
  buckets.take = (key) => take(key, 0)
  return buckets
}

test('a token that calls too often is told when to try again, and others are answered (29)', async () => {
  const requests = withoutTime(new TokenBuckets({ burst: 10, perSecond: 0.1 }))
  const team = await openTeam({ rates: { ...teamRates(), requests } })
  const { builder, ben } = await withBen(team)
  const responses = await Promise.all(Array.from({ length: 15 }, () => team.ask(builder, '/api/whoami', {})))
  const refused = responses.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(5)
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await team.ask(ben, '/api/whoami', {})).status).toBe(200)
})

test('a person signs in with a token, as a cookie that ends with a sign-out', async () => {
  const team = await openTeam()
  const { ben, builder } = await withBen(team)
  expect(await jsonOf(fetch(`${team.address}/api/sign-in`))).toEqual({
    ways: [{ way: 'token', path: '/api/sign-in' }],
  })
  const signIn = (token: string, headers: Record<string, string> = {}) =>
    fetch(`${team.address}/api/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ token }),
    })
  expect((await signIn('nothing')).status).toBe(401)
  expect((await signIn(builder)).status).toBe(403)
  const response = await signIn(ben)
  expect(response.status).toBe(200)
  const set = response.headers.get('set-cookie') ?? ''
  expect(set).toMatch(
    /^waymark_session_\d+=[0-9a-z]{12}\.[\w-]{43}; Max-Age=43\d{3}; Path=\/; HttpOnly; SameSite=Strict$/,
  )
  const Cookie = set.split(';')[0] ?? ''
  const session = await jsonOf(fetch(`${team.address}/api/session`, { headers: { Cookie } }))
  expect(session).toMatchObject({
    actor: { name: 'Ben', kind: 'person', channel: 'dashboard' },
    permissions: { access: 'contributor' },
  })
  const headers = { Cookie, 'X-Waymark-Csrf': session.csrf, 'Content-Type': 'application/json' }
  const post = (path: string, more: Record<string, string> = headers) =>
    fetch(`${team.address}${path}`, { method: 'POST', headers: more, body: '{}' })
  expect((await post('/api/session_list', { Cookie, 'Content-Type': 'application/json' })).status).toBe(403)
  expect((await jsonOf(post('/api/session_list'))).sessions).toMatchObject([{ own: true }])
  expect(await jsonOf(post('/api/logout'))).toEqual({ success: true, ended: 1 })
  expect((await fetch(`${team.address}/api/session`, { headers: { Cookie } })).status).toBe(401)
  expect((await fetch(`${team.address}/login`, { redirect: 'manual' })).status).toBe(303)
})

test('behind a proxy that ended TLS the cookie belongs to this host alone, and guesses are counted by the client', async () => {
  const { requests, mistakes } = teamRates()
  const rates = { requests, mistakes: withoutTime(mistakes) }
  const team = await openTeam({ trustProxy: true, rates })
  const { ben } = await withBen(team)
  const signIn = (token: string, from: string) =>
    fetch(`${team.address}/api/sign-in`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-For': `203.0.113.9, ${from}`,
      },
      body: JSON.stringify({ token }),
    })
  const set = (await signIn(ben, '10.0.0.1')).headers.get('set-cookie') ?? ''
  expect(set).toMatch(/^__Host-waymark_session=\S+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
  const statuses: number[] = []
  for (let round = 0; round < 12; round += 1) statuses.push((await signIn('nothing', '10.0.0.2')).status)
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401))
  expect(statuses.slice(10)).toEqual([429, 429])
  expect((await signIn('nothing', '10.0.0.3')).status).toBe(401)
})

test('a server of one’s own says that it is signed in to by its address, or a token', async () => {
  const project = await openHttpProject()
  expect(await jsonOf(fetch(`${project.address}/api/sign-in`))).toEqual({
    ways: [{ way: 'address' }, { way: 'token', path: '/api/sign-in' }],
  })
})

test('who asks for it is told that persons, tokens or sessions changed which they may see, and not what', async () => {
  const team = await openTeam()
  const secretOf = async (input: object) => (await team.call('token_create', input)).secret
  const ada = await secretOf({ admin: true, person: 'Ada' })
  const secrets: Record<string, string> = { Ada: ada }
  for (const [name, access] of [
    ['Olga', 'owner'],
    ['Vera', 'viewer'],
    ['Max', 'maintainer'],
  ]) {
    await team.call('person_add', { name })
    await team.call('member_add', { person: name, access })
    secrets[String(name)] = await secretOf({ kind: 'person', person: name })
  }
  const told: Record<string, string[]> = {}
  const listen = async (name: string, path: string) => {
    const headers = { Authorization: `Bearer ${secrets[name.split(' ')[0] ?? '']}` }
    const socket = new WebSocket(`ws://127.0.0.1:${team.port}${path}`, { headers })
    onTestFinished(() => socket.terminate())
    const heard: string[] = []
    told[name] = heard
    socket.on('message', (data: Buffer) => {
      const { event, kinds } = JSON.parse(data.toString())
      if (event === 'identities') heard.push(...kinds)
    })
    await once(socket, 'message')
  }
  for (const name of ['Ada', 'Olga', 'Vera', 'Max']) await listen(name, '/ws?identities')
  await listen('Ada who did not ask', '/ws')
  const nobody = { Ada: [], Olga: [], Vera: [], Max: [], 'Ada who did not ask': [] }
  const tells = async (name: string, input: object, whom: Record<string, readonly string[]>) => {
    for (const heard of Object.values(told)) heard.length = 0
    const answer = await team.call(name, input)
    await expect.poll(() => told).toEqual({ ...nobody, ...whom })
    await sleep(50) // nobody else, in their turn
    expect(told).toEqual({ ...nobody, ...whom })
    return answer
  }
  const [persons, tokens] = [['person'], ['token']]
  await tells('person_add', { name: 'Nina' }, { Ada: persons, Olga: persons })
  await team.call('member_add', { person: 'Nina', access: 'viewer' })
  const everybody = { Ada: persons, Olga: persons, Vera: persons, Max: persons }
  await tells('person_disable', { person: 'Nina' }, everybody)
  const own = { name: 'builder', person: 'Vera' }
  await tells('token_create', own, { Ada: tokens, Olga: tokens, Vera: tokens })
  const all = { name: 'all', person: 'Vera', all_projects: true }
  const { id } = await tells('token_create', all, { Ada: tokens, Vera: tokens })
  await tells('token_revoke', { token: id }, { Ada: tokens, Vera: tokens })
  expect(JSON.stringify(told)).not.toContain('builder')
})

test('when a token was last used is known, to a minute', async () => {
  const team = await openTeam()
  const { builder, builderId } = await withBen(team)
  await team.ask(builder, '/api/whoami', {})
  const used = async () => {
    const { tokens } = await team.call('token_list')
    return tokens.find(({ id }: { id: string }) => id === builderId).last_used_at
  }
  await expect.poll(used).not.toBeNull()
  const before = await used()
  await team.ask(builder, '/api/whoami', {})
  expect(await used()).toBe(before)
  expect(await team.contexts[0].team?.store.inspect()).toMatchObject({
    differing: 0,
    error: null,
  })
  const revoked = await team.call('token_revoke', { token: builderId })
  const { tokens } = await team.call('token_list', { revoked: true })
  const listed = tokens.find(({ id }: { id: string }) => id === builderId)
  expect([revoked, listed]).toMatchObject([
    { state: 'revoked', last_used_at: before },
    { state: 'revoked', last_used_at: before },
  ])
  await expect.poll(async () => (await team.ask(builder, '/api/whoami', {})).status).toBe(401)
})

test('no token and no cookie is in the log, in an answer or in a log entry of a server (44)', async () => {
  const team = await openTeam()
  const { ada, ben, builder } = await withBen(team)
  const signedIn = await fetch(`${team.address}/api/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: ben }),
  })
  const cookie = /=([^;]+);/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? ''
  const answers = [await signedIn.text()]
  for (const [path, body] of [
    ['/api/token_list', { all: true, revoked: true }],
    ['/api/session_list', { all: true }],
    ['/api/person_list', {}],
    ['/api/whoami', {}],
    ['/api/log', {}],
    ['/api/no_such_operation', {}],
  ] as const) {
    answers.push(await (await team.ask(ada, path, body)).text())
  }
  const [{ store, team: persons }] = team.contexts
  const stores = [store, ...(persons ? [persons.store] : [])]
  const projectEvents = await Promise.all(
    stores.map((one) => one.view((reads) => reads.eventLog.since(0, 1_000))),
  )
  const text = JSON.stringify([team.logged, answers, projectEvents])
  expect(text).toContain('session.began')
  for (const secret of [ada.slice(17), ben.slice(17), builder.slice(17), cookie.slice(13)]) {
    expect(secret).toHaveLength(43)
    expect(text).not.toContain(secret)
    expect(text).not.toContain(persons?.hashOf(secret))
  }
})

test('the log names the person behind an agent', async () => {
  const team = await openTeam()
  const { ben, builder } = await withBen(team)
  await team.ask(builder, '/api/start_mission', { name: 'Shop', objective: 'A shop' })
  const { events: projectEvents } = await jsonOf(team.ask(ben, '/api/log', {}))
  expect(projectEvents.at(-1)).toMatchObject({ actor: 'builder', actor_kind: 'agent', person: 'Ben' })
})
