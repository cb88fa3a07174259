import { expect, test } from 'vitest'
import { readGroups } from '../../src/surfaces/http/auth/oidc.ts'
import { jsonOf } from '../surfaces/http/http-project.ts'
import { type Account, clientSecret, openProvider } from './provider.ts'
import { openTeam, type TeamServer } from './team-server.ts'

async function opened(accounts: Readonly<Record<string, Account>>, groups = '') {
  const provider = await openProvider(accounts)
  const oidc = {
    issuer: provider.issuer,
    clientId: 'waymark',
    clientSecret,
    groupClaim: 'groups',
    groups: readGroups(groups),
  }
  const team = await openTeam({ oidc })
  provider.allow(`${team.address}/sign-in/oidc/callback`)
  return { team, provider }
}

/** A browser, as far as cookies and following links go. */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>()

  async get(address: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const { origin } = new URL(address)
    const cookies = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, cookies)
    const response = await fetch(address, {
      redirect: 'manual',
      headers: {
        Accept: 'text/html',
        Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form).toString() }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(cookie)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }

  cookie(origin: string, name: RegExp): [string, string] | undefined {
    return [...(this.#cookies.get(origin) ?? [])].find(([key]) => name.test(key))
  }

  put(origin: string, name: string, value: string): void {
    this.#cookies.get(origin)?.set(name, value)
  }

  /** Goes on as the provider asks, and stops before the address that leads back to us. */
  async signInAs(account: string, team: TeamServer, to = ''): Promise<string> {
    let response = await this.get(`${team.address}/sign-in/oidc${to}`)
    for (let step = 0; step < 12; step += 1) {
      const location = response.headers.get('location')
      if (location !== null) {
        const next = new URL(location, response.url).href
        if (next.startsWith(team.address)) return next
        response = await this.get(next)
        continue
      }
      const page = await response.text()
      const action = /action="([^"]+)"/.exec(page)?.[1]
      if (action === undefined) throw new Error(`no form: ${page.slice(0, 500)}`)
      const isLogin = page.includes('name="login"')
      const form = isLogin ? { prompt: 'login', login: account, password: 'any' } : { prompt: 'consent' }
      response = await this.get(new URL(action, response.url).href, form)
    }
    throw new Error('the provider asks without end')
  }
}

async function sessionIn(browser: Browser, team: TeamServer): Promise<Response> {
  return browser.get(`${team.address}/api/session`)
}

async function sessions(team: TeamServer): Promise<number> {
  return (await team.call('session_list')).sessions.length
}

test('who was invited by a verified address signs in, once matched by issuer and subject (27)', async () => {
  const accounts = { 'sub-cleo': { email: 'Cleo@example.org', email_verified: true, name: 'Cleo' } }
  const { team, provider } = await opened(accounts)
  await team.call('member_invite', { email: 'cleo@example.org', name: 'Cleo', access: 'maintainer' })
  expect(await jsonOf(fetch(`${team.address}/api/sign-in`))).toEqual({
    ways: [
      { way: 'oidc', path: '/sign-in/oidc', issuer: provider.issuer },
      { way: 'token', path: '/api/sign-in' },
    ],
  })
  const browser = new Browser()
  const back = await browser.signInAs('sub-cleo', team, '?to=/p/shop/board')
  const end = await browser.get(back)
  expect([end.status, end.headers.get('location')]).toEqual([303, '/p/shop/board'])
  const session = await jsonOf(sessionIn(browser, team))
  expect(session).toMatchObject({
    actor: { name: 'Cleo', kind: 'person', channel: 'dashboard' },
    permissions: { access: 'maintainer', admin: false },
  })
  const hours = (Date.parse(session.permissions.expires_at) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(11.9)
  expect(hours).toBeLessThanOrEqual(12)
  expect((await team.call('person_list')).people).toMatchObject([
    { name: 'Cleo', state: 'active', issuer: provider.issuer },
  ])
  // The way back leads in once.
  expect((await browser.get(back)).status).toBe(401)
  // The address may change, or go to another: the subject is who it is.
  Object.assign(accounts['sub-cleo'], { email: 'new@example.org', email_verified: false })
  const again = new Browser()
  expect((await again.get(await again.signInAs('sub-cleo', team))).status).toBe(303)
  expect(await jsonOf(sessionIn(again, team))).toMatchObject({ actor: { name: 'Cleo' } })
  expect(await sessions(team)).toBe(2)
})

test('a wrong state, nonce or issuer, an address that is not verified and a person who is disabled are refused, and no session begins (27)', async () => {
  const accounts = {
    'sub-cleo': { email: 'cleo@example.org', email_verified: true },
    'sub-eve': { email: 'eve@example.org', email_verified: false },
    'sub-dan': { email: 'dan@example.org', email_verified: true },
  }
  const { team } = await opened(accounts)
  for (const name of ['cleo', 'eve', 'dan']) {
    await team.call('member_invite', { email: `${name}@example.org`, name })
  }
  await team.call('person_disable', { person: 'dan' })
  const refused = async (browser: Browser, address: string, message: string) => {
    const end = await browser.get(address)
    expect(end.status).toBe(401)
    expect(await end.text()).toContain(message)
    expect((await sessionIn(browser, team)).status).toBe(401)
    expect(await sessions(team)).toBe(0)
  }
  const changed = (address: string, name: string, value: string) => {
    const url = new URL(address)
    url.searchParams.set(name, value)
    return url.href
  }
  const unfit = 'does not match this sign-in'
  const one = new Browser()
  await refused(one, changed(await one.signInAs('sub-cleo', team), 'state', 'another'), unfit)
  const two = new Browser()
  await refused(two, changed(await two.signInAs('sub-cleo', team), 'iss', 'http://127.0.0.1:1'), unfit)
  const three = new Browser()
  const back = await three.signInAs('sub-cleo', team)
  const [name, value] = three.cookie(team.address, /signing_in/) ?? ['', '']
  const going = JSON.parse(Buffer.from(value, 'base64url').toString())
  const forged = Buffer.from(JSON.stringify({ ...going, nonce: 'another' })).toString('base64url')
  three.put(team.address, name, forged)
  await refused(three, back, unfit)
  const four = new Browser()
  await refused(four, await four.signInAs('sub-eve', team), 'has not verified your e-mail address')
  const five = new Browser()
  await refused(five, await five.signInAs('sub-dan', team), 'An admin of this server has disabled you')
  const six = new Browser()
  await refused(six, `${team.address}/sign-in/oidc/callback?code=x&state=y`, 'did not start here')
})

test('somebody whom nobody invited is refused, and who is disabled later has no session any more (27)', async () => {
  const { team } = await opened({
    'sub-fay': { email: 'fay@example.org', email_verified: true },
    'sub-cleo': { email: 'cleo@example.org', email_verified: true },
  })
  await team.call('member_invite', { email: 'cleo@example.org' })
  const stranger = new Browser()
  const refused = await stranger.get(await stranger.signInAs('sub-fay', team))
  expect(await refused.text()).toContain('There is no invitation for your e-mail address')
  const browser = new Browser()
  await browser.get(await browser.signInAs('sub-cleo', team))
  expect((await sessionIn(browser, team)).status).toBe(200)
  await team.call('person_disable', { person: 'cleo' })
  await expect.poll(async () => (await sessionIn(browser, team)).status).toBe(401)
  const again = new Browser()
  expect((await again.get(await again.signInAs('sub-cleo', team))).status).toBe(401)
})

test('groups of the provider may say what one may do', async () => {
  const { team } = await opened(
    {
      'sub-gil': { email: 'gil@example.org', email_verified: true, name: 'Gil', groups: ['devs', 'leads'] },
      'sub-hal': { name: 'Hal', groups: ['guests'] },
    },
    'devs=contributor, leads=owner@other, guests=viewer@elsewhere',
  )
  const browser = new Browser()
  await browser.get(await browser.signInAs('sub-gil', team))
  expect(await jsonOf(sessionIn(browser, team))).toMatchObject({
    actor: { name: 'Gil' },
    permissions: { access: 'contributor' },
  })
  const other = new Browser()
  await other.get(await other.signInAs('sub-hal', team))
  expect((await sessionIn(other, team)).status).toBe(404)
  expect(() => readGroups('devs')).toThrow('"devs" gives no group an access')
})

test('nobody is led to another server after a sign-in', async () => {
  const { team } = await opened({ s: { email: 'cleo@example.org', email_verified: true } })
  await team.call('member_invite', { email: 'cleo@example.org' })
  for (const to of ['//evil.example/', '/%5Cevil.example', 'https://evil.example', '/\\evil.example']) {
    const browser = new Browser()
    const end = await browser.get(await browser.signInAs('s', team, `?to=${encodeURIComponent(to)}`))
    expect(end.headers.get('location')?.startsWith('/')).toBe(true)
    expect(new URL(end.headers.get('location') ?? '', team.address).origin).toBe(team.address)
  }
})
