import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { readInvitation } from '../../src/people/domain/identity.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type Answer, person } from '../support/project.ts'
import { jsonOf } from '../surfaces/http/http-project.ts'
import { openTeam, type TeamServer } from './team-server.ts'

const anHour = 60 * 60_000

/** Ada is an admin, Ben owns the first of two projects, and Cleo is invited to it. */
async function withInvited(options: Parameters<typeof openTeam>[0] = {}) {
  const team = await openTeam({ folders: ['shop', 'api'], ...options })
  const { secret: ada } = await team.call('token_create', { admin: true, person: 'Ada' })
  await team.call('person_add', { name: 'Ben' })
  await team.call('member_add', { person: 'Ben', access: 'owner' })
  const { secret: ben } = await team.call('token_create', { kind: 'person', person: 'Ben' })
  await team.call('member_invite', { email: 'cleo@example.org', access: 'contributor' })
  const invite = (token: string, invited = 'cleo') =>
    jsonOf(team.ask(token, '/p/shop/api/invitation_create', { person: invited }))
  return { team, ada, ben, invite, accept: (text: unknown) => accept(team, text) }
}

function accept({ address }: Pick<TeamServer, 'address'>, invitation: unknown, more = {}) {
  return fetch(`${address}/api/invitation`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ invitation, ...more }),
  })
}

async function refusalOf(response: Promise<Response>): Promise<Answer> {
  const { status } = await response
  const { error } = await jsonOf(response)
  return { status, reason: error.reason }
}

test('an owner lets an invited person in, without single sign-on and without an admin', async () => {
  const { team, ben, invite, accept } = await withInvited()
  const made = await invite(ben)
  expect(made).toMatchObject({ person: { name: 'cleo' }, project: 'shop', access: 'contributor' })
  const hours = (Date.parse(made.expires_at) - Date.now()) / anHour
  expect(hours).toBeGreaterThan(23)
  expect(hours).toBeLessThanOrEqual(24)

  const accepted = await jsonOf(accept(made.invitation))
  expect(accepted).toMatchObject({ success: true, name: 'cleo', token: expect.stringMatching(/^wm1_/) })
  expect(await jsonOf(team.ask(accepted.token, '/p/shop/api/session'))).toMatchObject({
    actor: { name: 'cleo', kind: 'person' },
    permissions: { access: 'contributor', admin: false },
  })
  expect((await team.ask(accepted.token, '/p/api/api/session')).status).toBe(404)
  // The dashboard takes it, too.
  const signedIn = await fetch(`${team.address}/api/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: accepted.token }),
  })
  expect(signedIn.status).toBe(200)
  const { tokens } = await team.call('token_list', { revoked: true })
  expect(tokens).toMatchObject([
    { kind: 'person', person: { name: 'cleo' }, access: null, state: 'valid' },
    { kind: 'invitation', state: 'revoked', revoked_by: 'cleo' },
    { name: 'Ben' },
    { name: 'Ada' },
  ])
  expect(tokens[0].parent_id).toBe(tokens[2].id)
  expect(Date.parse(tokens[0].expires_at)).toBeLessThanOrEqual(Date.parse(tokens[2].expires_at))
})

test('an invited member is active from the first use of their token on, also once it is revoked', async () => {
  const { team, ben, invite, accept } = await withInvited()
  const states = async () => {
    const ofCleo = ({ name, person }: Answer) => (name ?? person.name) === 'cleo'
    const [{ people }, { members }] = [await team.call('person_list'), await team.call('member_list')]
    return [people.find(ofCleo).state, members.find(ofCleo).state]
  }
  await invite(ben)
  const { token } = await jsonOf(accept((await invite(ben)).invitation))
  expect(await states()).toEqual(['invited', 'invited'])
  expect((await team.ask(token, '/p/shop/api/session')).status).toBe(200)
  await expect.poll(states).toEqual(['active', 'active'])
  expect(await team.call('member_set', { person: 'cleo', access: 'viewer' })).toMatchObject({
    state: 'active',
  })
  await team.call('token_revoke', { token: 'cleo' })
  expect(await states()).toEqual(['active', 'active'])
  expect(await team.call('person_disable', { person: 'cleo' })).toMatchObject({ state: 'disabled' })
  expect(await team.call('person_enable', { person: 'cleo' })).toMatchObject({ state: 'active' })
})

test('only a hash of an invitation is kept, and it lets nobody in by itself', async () => {
  const { team, ben, invite } = await withInvited()
  const { invitation } = await invite(ben)
  const parts = readInvitation(invitation)
  if (!parts) throw new Error('no invitation')
  const [context] = team.contexts
  const kept = await context.team?.store.view(async ({ identities, eventLog: log }) => ({
    secret: await identities.secret(parts.id),
    events: await log.since(0, 1000),
  }))
  expect(kept?.secret?.hash).toMatch(/^[0-9a-f]{64}$/)
  expect(JSON.stringify(kept)).not.toContain(parts.secret)
  for (const text of [invitation, invitation.replace('invite-', '')])
    expect((await team.ask(text, '/p/shop/api/session')).status, text.slice(0, 12)).toBe(401)
})

test('an invitation works once, by its own name and not for another person', async () => {
  const { team, ben, invite, accept: acceptText } = await withInvited()
  await team.call('member_invite', { email: 'dora@example.org', access: 'owner' })
  const [cleo, dora] = [await invite(ben), await invite(ben, 'dora')]
  const [ofCleo, ofDora] = [cleo, dora].map(({ invitation }) => readInvitation(invitation))
  if (!ofCleo || !ofDora) throw new Error('no invitations')
  const crossed = cleo.invitation.replace(ofCleo.secret, ofDora.secret)
  expect(await refusalOf(acceptText(crossed))).toEqual({ status: 401, reason: 'invitation_invalid' })
  for (const name of ['name', 'person'])
    expect(await refusalOf(accept(team, cleo.invitation, { [name]: 'dora' }))).toEqual({
      status: 400,
      reason: 'body_fields_invalid',
    })

  const answers = await Promise.all(Array.from({ length: 6 }, () => acceptText(cleo.invitation)))
  expect(answers.map(({ status }) => status)).toContain(200)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect((await acceptText(cleo.invitation)).status).toBe(401)
  const { tokens } = await team.call('token_list')
  expect(tokens.filter(({ person }: Answer) => person.name === 'cleo')).toHaveLength(1)
  for (const text of [undefined, '', 'nothing', ofCleo.secret, 7])
    expect([400, 401]).toContain((await acceptText(text)).status)
})

test('two servers of one database accept an invitation once', async () => {
  const home = temporaryFolder()
  const { team, ben, invite } = await withInvited({ home })
  const other = await openTeam({ home, folders: ['shop', 'api'] })
  const { invitation } = await invite(ben)
  const both = [team, other, team, other].map((server) => accept(server, invitation))
  const answers = await Promise.all(both)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
})

test('an invitation ends after a day, with the next one, and when it is revoked', async () => {
  const { team, ben, invite, accept } = await withInvited()
  const first = await invite(ben)
  const second = await invite(ben)
  expect((await accept(first.invitation)).status).toBe(401)
  await team.call('token_revoke', { token: second.id })
  expect((await accept(second.invitation)).status).toBe(401)

  const ago = (hours: number): Promise<Answer> => {
    const operation = catalog.find(({ name }) => name === 'invitation_create')
    if (!operation) throw new Error('no operation')
    const clock = { now: () => Date.now() - hours * anHour }
    return invoke(operation, { ...team.contexts[0], actor: person, clock }, { person: 'cleo' })
  }
  const old = await ago(24)
  expect(await refusalOf(accept(old.invitation))).toEqual({ status: 409, reason: 'invitation_ended' })
  const recent = await ago(23)
  expect((await accept(recent.invitation)).status).toBe(200)
})

test('an invitation ends with what its inviter may', async () => {
  const { team, ada, ben, invite, accept } = await withInvited()
  const ways: Record<string, () => Promise<unknown>> = {
    removed: () => team.call('member_remove', { person: 'Ben' }),
    'made a maintainer': () => team.call('member_set', { person: 'Ben', access: 'maintainer' }),
    disabled: () => team.call('person_disable', { person: 'Ben' }),
  }
  await team.call('member_add', { person: 'Ada', access: 'owner' })
  for (const [way, end] of Object.entries(ways)) {
    const { invitation } = await invite(ben)
    await end()
    expect((await accept(invitation)).status, way).not.toBe(200)
    await team.call('person_enable', { person: 'Ben' })
    await team.call('member_add', { person: 'Ben', access: 'owner' }).catch(() => undefined)
    await team.call('member_set', { person: 'Ben', access: 'owner' })
    await expect
      .poll(async () => (await jsonOf(team.ask(ben, '/p/shop/api/session'))).permissions?.access)
      .toBe('owner')
  }
  // The token that it was made with.
  const { secret, id } = await team.call('token_create', { name: 'short', kind: 'person', person: 'Ben' })
  const { invitation } = await invite(secret)
  await team.call('token_revoke', { token: id })
  expect((await accept(invitation)).status).toBe(401)
  expect((await accept((await invite(ada)).invitation)).status).toBe(200)
})

test('nobody is let in who has a way in, is an admin, or may more elsewhere than their inviter', async () => {
  const { team, ada, ben, invite, accept } = await withInvited()
  const refused = async (token: string, invited: string) => (await invite(token, invited)).error?.reason
  await team.call('person_add', { name: 'Max' })
  expect(await refused(ben, 'Max')).toBe('member_not_found')
  await team.call('member_add', { person: 'Max', access: 'maintainer' })
  // Whoever may not invite makes no invitation either.
  const { secret: max } = await team.call('token_create', { kind: 'person', person: 'Max' })
  expect(await refused(max, 'cleo')).toBe('access_too_low')
  expect(await refused(ben, 'Max')).toBe('invited_signed_in')
  await team.call('token_revoke', { token: 'Max' })
  expect(await refused(ben, 'Max')).toBe('invited_signed_in')

  await team.call('person_add', { name: 'Eve', admin: true })
  await team.call('member_add', { person: 'Eve', access: 'viewer' })
  for (const token of [ada, ben]) expect(await refused(token, 'Eve')).toBe('invited_is_admin')

  // Also when it changes after the invitation was made.
  const { invitation } = await invite(ben)
  await team.call('member_add', { person: 'cleo', access: 'viewer' }, 1)
  expect(await refusalOf(accept(invitation))).toEqual({ status: 403, reason: 'invited_elsewhere' })
  expect(await refused(ben, 'cleo')).toBe('invited_elsewhere')
  await team.call('member_add', { person: 'Ben', access: 'contributor' }, 1)
  expect(await refused(ben, 'cleo')).toBe('invited_elsewhere')
  await team.call('member_set', { person: 'Ben', access: 'maintainer' }, 1)
  const { secret: limited } = await team.call('token_create', {
    name: 'limited',
    kind: 'person',
    person: 'Ben',
    all_projects: false,
  })
  expect(await refused(limited, 'cleo')).toBe('invited_elsewhere')
  const again = await invite(ben)
  await team.call('person_admin', { person: 'cleo' })
  expect(await refusalOf(accept(again.invitation))).toEqual({ status: 403, reason: 'invited_is_admin' })
  await team.call('person_admin', { person: 'cleo', end: true })
  await team.call('member_set', { person: 'cleo', access: 'viewer' })
  const accepted = await jsonOf(accept(again.invitation))
  expect(await jsonOf(team.ask(accepted.token, '/p/shop/api/session'))).toMatchObject({
    permissions: { access: 'viewer' },
  })
  expect(await refused(ben, 'cleo')).toBe('invited_signed_in')
})

test('the token of an invitation permits what its person may, as that changes, in this project alone', async () => {
  const { team, ben, invite, accept } = await withInvited()
  const { token } = await jsonOf(accept((await invite(ben)).invitation))
  const permissions = async () => (await jsonOf(team.ask(token, '/p/shop/api/session'))).permissions
  const raised = await jsonOf(
    team.ask(ben, '/p/shop/api/member_set', { person: 'cleo', access: 'maintainer', roles: ['reviewer'] }),
  )
  expect(raised).toMatchObject({ access: 'maintainer', limited_tokens: [] })
  await expect.poll(permissions).toMatchObject({ access: 'maintainer', roles: ['reviewer'] })
  await team.call('member_set', { person: 'cleo', access: 'viewer' })
  await expect.poll(permissions).toMatchObject({ access: 'viewer' })

  await team.call('person_admin', { person: 'cleo' })
  await team.call('member_add', { person: 'cleo', access: 'owner' }, 1)
  await expect.poll(permissions).toMatchObject({ access: 'owner', admin: false })
  expect((await team.ask(token, '/p/api/api/session')).status).toBe(404)
  // Nor more than the token of the inviter.
  const { secret: limited } = await team.call('token_create', {
    kind: 'person',
    person: 'Ben',
    access: 'owner',
  })
  await team.call('member_invite', { email: 'dora@example.org' })
  await accept((await invite(limited, 'dora')).invitation)
  const { tokens } = await team.call('token_list')
  expect(tokens[0]).toMatchObject({ person: { name: 'dora' }, access: 'owner' })
})

test('who cannot be invited again is refused with a command that works, and with the admins who can run it', async () => {
  const { team, ada, ben, invite, accept } = await withInvited()
  const { token } = await jsonOf(accept((await invite(ben)).invitation))
  expect((await team.ask(token, '/p/shop/api/session')).status).toBe(200)
  const hintFor = async (caller: string) => (await invite(caller)).error.hint
  const command = /waymark (token create) --kind (\w+) --person (\S+)$/
  for (const [caller, isNamed] of [
    [ada, false],
    [ben, true],
  ] as const) {
    const hint = await hintFor(caller)
    expect([hint, hint.includes('Ada')]).toEqual([expect.stringMatching(command), isNamed])
  }
  const [, , kind, person] = command.exec(await hintFor(ben)) ?? []
  expect(await jsonOf(team.ask(ada, '/p/shop/api/token_create', { kind, person }))).toMatchObject({
    name: 'cleo-2',
    kind: 'person',
  })
})

test('a token whose answer was lost does not shut the invited person out', async () => {
  const { team, ada, ben, invite, accept } = await withInvited()
  const lost = await jsonOf(accept((await invite(ben)).invitation))
  expect((await invite(ada)).error.reason).toBe('invited_signed_in')
  const { token } = await jsonOf(accept((await invite(ben)).invitation))
  expect((await team.ask(lost.token, '/p/shop/api/session')).status).toBe(401)
  expect((await team.ask(token, '/p/shop/api/session')).status).toBe(200)
})
