import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { keyIdOf, LoginCodes, proofOf } from '../../../src/surfaces/http/auth/login-proof.ts'
import { tokenIdOf } from '../../support/machine-people.ts'
import { type HttpProject, jsonOf, openHttpProject } from './http-project.ts'
import { requestText, sendRaw } from './raw.ts'

const minute = 60_000
const day = 24 * 60 * minute

async function loginAddress({ address, personToken }: HttpProject): Promise<string> {
  const headers = { Authorization: `Bearer ${personToken}` }
  const response = await fetch(`${address}/api/login-code`, { method: 'POST', headers })
  const { code } = await jsonOf(response)
  return `${address}/login?code=${code}`
}

interface LoggedIn {
  readonly cookie: string
  readonly csrf: string
}

async function logIn(project: HttpProject): Promise<LoggedIn> {
  const response = await fetch(await loginAddress(project), { redirect: 'manual' })
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  const session = await fetch(`${project.address}/api/session`, { headers: { Cookie: cookie } })
  return { cookie, csrf: (await jsonOf(session)).csrf }
}

test('a code logs in once, with a cookie that no script and no other site can use', async () => {
  const project = await openHttpProject()
  const address = await loginAddress(project)
  const response = await fetch(address, { redirect: 'manual' })
  expect(response.status).toBe(303)
  expect(response.headers.get('location')).toBe('/')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const [pair = '', ...flags] = (response.headers.get('set-cookie') ?? '').split('; ')
  expect(pair).toMatch(new RegExp(`^waymark_session_${project.port}=[0-9a-z]{12}\\.[\\w-]{43}$`))
  expect(flags.toSorted()).toEqual(['HttpOnly', `Max-Age=${30 * 24 * 60 * 60}`, 'Path=/', 'SameSite=Strict'])
  const again = await fetch(address, { redirect: 'manual' })
  expect(again.status).toBe(401)
  expect(again.headers.get('set-cookie')).toBeNull()
  expect((await jsonOf(again)).error).toMatchObject({ code: 'UNAUTHENTICATED', reason: 'login_code_invalid' })
})

test('a program that only previews the address does not use it up', async () => {
  const project = await openHttpProject()
  const address = await loginAddress(project)
  expect((await fetch(address, { method: 'HEAD', redirect: 'manual' })).status).toBe(405)
  expect((await fetch(address, { redirect: 'manual' })).status).toBe(303)
})

test('a wrong code, or none, logs nobody in', async () => {
  const { address } = await openHttpProject()
  const none = await fetch(`${address}/login`, { redirect: 'manual' })
  expect([none.status, none.headers.get('location'), none.headers.get('set-cookie')]).toEqual([
    303,
    '/',
    null,
  ])
  for (const query of ['?code=', '?code=wrong']) {
    const response = await fetch(`${address}/login${query}`, { redirect: 'manual' })
    expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null])
  }
})

test('a code is good for ten minutes', () => {
  const codes = new LoginCodes()
  const token = tokenIdOf(`wm1_${'a'.repeat(12)}_${'b'.repeat(43)}`)
  expect(codes.take(codes.make(token, 0), 10 * minute - 1)).toBe(token)
  expect(codes.take(codes.make(token, 0), 10 * minute)).toBeNull()
})

test('the dashboard acts as the person, over its own channel', async () => {
  const project = await openHttpProject()
  const { cookie } = await logIn(project)
  const response = await fetch(`${project.address}/api/session`, { headers: { Cookie: cookie } })
  const session = await jsonOf(response)
  expect(session).toEqual({
    actor: { name: 'Tess', kind: 'person', role: null, channel: 'dashboard' },
    demo: null,
    csrf: expect.stringMatching(/^[\w-]{43}$/),
    single_user: true,
    set_up: [],
    on_path: false,
    permissions: {
      person: { id: expect.stringMatching(/^u-/), name: 'Tess' },
      access: 'owner',
      admin: true,
      max_access: null,
      roles: [],
      session_id: expect.stringMatching(/^s-/),
      expires_at: expect.any(String),
      refused: {},
    },
    project: 'shop',
    projects: [{ key: 'shop', name: 'shop', folder: project.folder }],
    version: expect.any(String),
    seq: 0,
    program: expect.stringMatching(/^[/\\A-Z]/),
    clients: [],
  })
  expect(response.headers.get('cache-control')).toBe('no-store')
})

test('a cookie writes only with the CSRF value of its own session', async () => {
  const project = await openHttpProject()
  const [one, other] = [await logIn(project), await logIn(project)]
  const start = (headers: Readonly<Record<string, string>>) =>
    fetch(`${project.address}/api/start_mission`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: one.cookie, ...headers },
      body: JSON.stringify({ name: 'Shop', objective: 'A shop' }),
    })
  const missing = await start({})
  expect(missing.status).toBe(403)
  expect((await jsonOf(missing)).error).toMatchObject({ code: 'FORBIDDEN', reason: 'csrf_token_missing' })
  const foreign = await start({ 'X-Waymark-Csrf': other.csrf })
  expect(foreign.status).toBe(403)
  expect((await jsonOf(foreign)).error).toMatchObject({ code: 'FORBIDDEN', reason: 'wrong_csrf_token' })
  expect((await start({ 'X-Waymark-Csrf': one.csrf })).status).toBe(200)
})

test('a refusal names commands on the dashboard, and calls over the API', async () => {
  const project = await openHttpProject()
  const { cookie, csrf } = await logIn(project)
  const refused = async (headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${project.address}/api/show`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ id: 't-nowhere' }),
    })
    return (await jsonOf(response)).error.hint
  }
  expect(await refused({ Cookie: cookie, 'X-Waymark-Csrf': csrf })).toContain('waymark mission list')
  expect(await refused({ Authorization: `Bearer ${project.personToken}` })).toContain('list_missions')
})

test('a cookie that nobody was given is nobody', async () => {
  const { address, port } = await openHttpProject()
  const headers = { Cookie: `waymark_session_${port}=${'a'.repeat(43)}` }
  expect((await fetch(`${address}/api/session`, { headers })).status).toBe(401)
  expect((await fetch(`${address}/`, { headers })).status).toBe(200)
})

test('a restart keeps a person logged in', async () => {
  const first = await openHttpProject()
  const { cookie, csrf } = await logIn(first)
  await first.stop()
  const second = await openHttpProject({ home: first.home, port: first.port })
  const headers = { Host: `127.0.0.1:${second.port}`, Cookie: cookie }
  const { body } = await sendRaw(second.port, requestText('GET /api/session', headers))
  expect(JSON.parse(body).csrf).toBe(csrf)
})

test('a login at one server is known to another one of the same user, and survives what that one does', async () => {
  const first = await openHttpProject()
  const second = await openHttpProject({ home: first.home, folders: ['till'] })
  const one = await logIn(first)
  await logIn(second)
  await logIn(first)
  const again = await openHttpProject({ home: first.home, folders: ['desk'] })
  const cookie = one.cookie.replace(`_${first.port}=`, `_${again.port}=`)
  expect((await fetch(`${again.address}/api/session`, { headers: { Cookie: cookie } })).status).toBe(200)
  const session = await fetch(`${first.address}/api/session`, { headers: { Cookie: one.cookie } })
  expect(session.status).toBe(200)
})

test('whoever logs out is logged out, in that browser alone', async () => {
  const project = await openHttpProject()
  const [one, other] = [await logIn(project), await logIn(project)]
  const post = (headers: Readonly<Record<string, string>>) =>
    fetch(`${project.address}/api/logout`, { method: 'POST', headers })
  expect((await post({ Cookie: one.cookie })).status).toBe(403)
  const out = await post({ Cookie: one.cookie, 'X-Waymark-Csrf': one.csrf })
  expect(out.headers.get('set-cookie')).toMatch(/^waymark_session_\d+=; .*Max-Age=0(;|$)/)
  expect(await out.json()).toEqual({ success: true, ended: 1 })
  const asks = async ({ cookie }: LoggedIn) =>
    (await fetch(`${project.address}/api/session`, { headers: { Cookie: cookie } })).status
  expect([await asks(one), await asks(other)]).toEqual([401, 200])
  expect(await jsonOf(post({ Authorization: `Bearer ${project.personToken}` }))).toMatchObject({ ended: 1 })
  expect(await asks(other)).toBe(401)
  expect((await post({})).status).toBe(401)
})

test('a browser that opens a used address is shown a page that says what to do', async () => {
  const project = await openHttpProject()
  const address = await loginAddress(project)
  await fetch(address, { redirect: 'manual' })
  const used = await fetch(address, { redirect: 'manual', headers: { Accept: 'text/html,*/*' } })
  expect([used.status, used.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
  const page = await used.text()
  expect(page).toContain('was already used')
  expect(page).toContain('You are not signed in')
  for (let at = 0; at < 12; at += 1) await fetch(address)
  const often = await fetch(address, { headers: { Accept: 'text/html' } })
  expect([often.status, await often.text()]).toEqual([429, expect.stringContaining('Try again in')])
})

test('a session ends with the token that it was had by', async () => {
  const project = await openHttpProject()
  const { cookie } = await logIn(project)
  await project.people?.revokeToken(tokenIdOf(project.personToken))
  project.server.security.directory.forget()
  const response = await fetch(`${project.address}/api/session`, { headers: { Cookie: cookie } })
  expect(response.status).toBe(401)
})

test('a session lasts thirty days, and no file of the state folder has its secret', async () => {
  const project = await openHttpProject()
  const { cookie } = await logIn(project)
  const asks = async () =>
    (await fetch(`${project.address}/api/session`, { headers: { Cookie: cookie } })).status
  const folder = join(project.home, 'state', 'waymark', 'server')
  const secret = cookie.split('.')[1] ?? ''
  expect(secret).toHaveLength(43)
  for (const name of readdirSync(folder)) {
    expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
    expect([name, readFileSync(join(folder, name)).includes(secret)]).toEqual([name, false])
  }
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const begun = Date.now()
  vi.setSystemTime(begun + 30 * day - minute)
  expect(await asks()).toBe(200)
  vi.setSystemTime(begun + 30 * day + minute)
  expect(await asks()).toBe(401)
})

test('a session that a stranger brings along is not taken over by who signs in', async () => {
  const project = await openHttpProject()
  const planted = (await logIn(project)).cookie
  await project.people?.revokeToken(tokenIdOf(project.personToken))
  project.server.security.directory.forget()
  const token = await project.people?.addToken({ name: 'laptop', kind: 'person' })
  const signedIn = await fetch(`${project.address}/api/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Cookie: planted },
    body: JSON.stringify({ token }),
  })
  expect(signedIn.status).toBe(200)
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(cookie).not.toBe(planted)
  const asks = async (Cookie: string) =>
    (await fetch(`${project.address}/api/session`, { headers: { Cookie } })).status
  expect([await asks(planted), await asks(cookie)]).toEqual([401, 200])
})

test('a cookie counts under the name of its own port alone', async () => {
  const project = await openHttpProject()
  const { cookie } = await logIn(project)
  const other = cookie.replace(`_${project.port}=`, `_${project.port + 1}=`)
  const response = await fetch(`${project.address}/api/session`, { headers: { Cookie: other } })
  expect(response.status).toBe(401)
})

test('a proof of a login counts once', async () => {
  const { address, port } = await openHttpProject()
  const instance = 'test-run'
  const post = (path: string, body: object) =>
    fetch(`${address}/api/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const asked = 'a'.repeat(20)
  const { answered, proof } = await jsonOf(post('login-proof', { key: keyIdOf(instance), asked }))
  // The server's own proof passed back shows nothing.
  expect((await post('login-code', { answered, proof })).status).toBe(401)
  const again = await jsonOf(post('login-proof', { key: keyIdOf(instance), asked }))
  const meeting = { port, asked, answered: again.answered }
  const shown = { answered: again.answered, proof: proofOf('client', meeting, instance) }
  expect((await post('login-code', shown)).status).toBe(200)
  expect((await post('login-code', shown)).status).toBe(401)
})
