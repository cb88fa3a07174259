import { expect, test } from 'vitest'
import { type Access, accesses, type CallerPermissions, hasAccess } from '../../src/people/domain/access.ts'
import { readInvitation, readToken, serverProject } from '../../src/people/domain/identity.ts'
import { acceptInvitation } from '../../src/people/operations/invitations.ts'
import { newSession } from '../../src/people/operations/sessions.ts'
import {
  actorOfPrincipal,
  isOpen,
  permissionsIn,
  readPrincipal,
} from '../../src/surfaces/http/auth/principal.ts'
import { amount } from '../support/amount.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { shared } from '../support/shared.ts'
import { openTeamProject, type TeamProject } from './team-project.ts'

interface Holder {
  readonly actor: ReturnType<typeof actorOfPrincipal>
  readonly permissions: CallerPermissions
}

const sharedProjects = shared(() => twoProjects())

/** Ada is an admin, Ben owns one of two projects and works in the other. */
async function twoProjects() {
  const home = temporaryFolder()
  const shop = await openTeamProject(home, 'shop')
  const api = await openTeamProject(home, 'api')
  await shop.call('token_create', { admin: true, person: 'Ada', name: 'first' })
  await shop.call('person_add', { name: 'Ben' })
  await shop.call('member_add', { person: 'Ben', access: 'owner' })
  await api.call('member_add', { person: 'Ben', access: 'contributor' })
  const projects = [shop, api]
  const ids = await Promise.all(
    projects.map(({ context }) =>
      context.store.view(({ identities }) => Promise.resolve(identities.project)),
    ),
  )
  /** What a token permits in each project; null once it lets nobody in. */
  const permitted = async (secret: string) => {
    const id = readToken(secret)?.id
    const principal =
      id && (await shop.context.team?.store.view((reads) => readPrincipal(reads, { token: id })))
    if (!principal || !isOpen(principal, Date.now())) return null
    return { principal, standings: ids.map((project) => permissionsIn(principal, project)) }
  }
  return { shop, api, permitted, ids }
}

/** A session of the dashboard that began with a token. */
async function sessionBy({ context }: TeamProject, secret: string, projectId: string): Promise<Holder> {
  const { team, ids } = context
  const tokenId = readToken(secret)?.id
  if (!team || !tokenId) throw new Error('no such token')
  const begun = await team.store.view((reads) => readPrincipal(reads, { token: tokenId }))
  if (!begun?.token) throw new Error('no such token')
  const { person, token } = begun
  const session = await team.store.record({
    actor: actorOfPrincipal(begun),
    at: Date.now(),
    decide: async () => {
      const until = token.expiresAt
      const made = newSession({ at: Date.now(), ids }, { person, tokenId: token.id, hash: 'x', until })
      return { ...made, answer: made.id }
    },
  })
  const principal = await team.store.view((reads) => readPrincipal(reads, { session: session as never }))
  if (!principal) throw new Error('no session')
  return { actor: actorOfPrincipal(principal), permissions: permissionsIn(principal, projectId) }
}

const parents: Readonly<Record<string, object>> = {
  'the admin’s own': { person: 'Ada', kind: 'person' },
  'the admin’s for one day': { person: 'Ada', kind: 'person', days: 1 },
  'the admin’s for one project': { person: 'Ada', kind: 'person', all_projects: false },
  'the admin’s as owner': { person: 'Ada', kind: 'person', access: 'owner' },
  'the admin’s that reads': { person: 'Ada', kind: 'person', access: 'viewer' },
  'an owner’s own': { person: 'Ben', kind: 'person' },
  'an owner’s for one project': { person: 'Ben', kind: 'person', all_projects: false },
  'an owner’s for one project and day that works': {
    person: 'Ben',
    kind: 'person',
    all_projects: false,
    access: 'contributor',
    days: 1,
  },
  'an agent’s': { person: 'Ben', kind: 'agent' },
  'an agent’s for all projects': { person: 'Ben', kind: 'agent', all_projects: true },
  'a runner’s': { person: 'Ada', kind: 'runner', all_projects: true },
}

const kinds = ['agent', 'person', 'runner'] as const
/** Every combination of what can be asked for. */
const requests = kinds.flatMap((kind) =>
  [undefined, true].flatMap((all_projects) =>
    [undefined, 1, 365].flatMap((days) =>
      [undefined, ...accesses].flatMap((access) =>
        [undefined, 'Ada', 'Ben'].flatMap((person) => [{ kind, all_projects, days, access, person }]),
      ),
    ),
  ),
)
// Each parent is asked for one in so many, the next one for others.
const everyRequest = amount({ test: 7, soak: 1 })
const admins = kinds.flatMap((kind) =>
  [undefined, 'Ada', 'Ben', 'Eve'].map((person) => ({ kind, person, admin: true })),
)

for (const [from, [title, input]] of Object.entries(parents).entries()) {
  for (const way of ['token', 'session'] as const) {
    if (way === 'session' && !title.includes('own')) continue
    test(`${title}, as a ${way}, makes no token that permits more, elsewhere or longer`, async () => {
      const { shop, permitted, ids } = await sharedProjects()
      const { secret } = await shop.call('token_create', { name: `parent ${from} ${way}`, ...input })
      const parent = await permitted(secret)
      if (!parent?.principal.token) throw new Error('no parent')
      const holder =
        way === 'token' ? await shop.as(secret) : await sessionBy(shop, secret, ids[0] ?? serverProject)
      const isMachine = parent.principal.token.kind !== 'person'
      let made = 0
      const asked = requests.filter((_, number) => number % everyRequest === from % everyRequest)
      for (const [at, request] of [...asked, ...admins].entries()) {
        const child = await shop
          .call('token_create', { ...request, name: `${from} ${way} ${at}` }, holder)
          .catch((error) => {
            expect(['FORBIDDEN', 'INVALID_INPUT'], JSON.stringify(request)).toContain(error.code)
            return null
          })
        if (child === null) continue
        made += 1
        const found = await permitted(child.secret)
        if (!found?.principal.token) throw new Error('no child')
        const { token } = found.principal
        expect(token.expiresAt, JSON.stringify(request)).toBeLessThanOrEqual(parent.principal.token.expiresAt)
        expect(token.parentId).toBe(parent.principal.token.id)
        for (const [project, standing] of found.standings.entries()) {
          const own = parent.standings[project]
          if (!own) throw new Error('no standing')
          expect(rank(standing.access), JSON.stringify({ request, project })).toBeLessThanOrEqual(
            rank(own.access),
          )
          expect(!standing.admin || own.admin, JSON.stringify(request)).toBe(true)
          if (token.kind === 'runner' && standing.access !== null) {
            expect(hasAccess(own, 'owner'), JSON.stringify({ request, project })).toBe(true)
          }
        }
      }
      expect(made > 0).toBe(!isMachine && !title.includes('reads'))
    })
  }
}

test('an invitation becomes no token that permits more, elsewhere or longer than its inviter’s', async () => {
  const { shop, api, permitted } = await twoProjects()
  const team = shop.context.team ?? raise()
  for (const [from, [title, input]] of Object.entries(parents).entries()) {
    const { secret } = await shop.call('token_create', { name: `parent ${from}`, ...input })
    const holder = await shop.as(secret)
    const parent = (await permitted(secret)) ?? raise()
    const mayInvite = holder.actor.kind === 'person' && hasAccess(holder.permissions, 'owner')
    for (const access of accesses) {
      const { person } = await shop.call('member_invite', { email: `${access}-${from}@example.org`, access })
      const made = shop.call('invitation_create', { person: person.id }, holder)
      if (!mayInvite) {
        await expect(made, `${title}: ${access}`).rejects.toMatchObject({ code: 'FORBIDDEN' })
        continue
      }
      const id = readInvitation((await made).invitation)?.id ?? raise()
      const { ids } = shop.context
      const invited = await team.store.view(({ identities }) => identities.person(person.id))
      const accepted = await acceptInvitation(team, id, { at: Date.now(), ids }, invited ?? raise())
      // What the person may elsewhere later, this token does not.
      await api.call('member_add', { person: person.id, access: 'owner' })
      await shop.call('member_set', { person: person.id, access: 'owner' })
      const { principal, standings } = (await permitted(accepted.secret)) ?? raise()
      expect(standings.map((one) => one.access)).toEqual(['owner', null])
      expect(rank(parent.standings[0]?.access ?? null)).toBe(rank('owner'))
      expect(principal.token?.most).toBe(parent.principal.token?.most)
      expect(standings.some(({ admin }) => admin)).toBe(false)
      expect(principal.token?.expiresAt).toBeLessThanOrEqual(parent.principal.token?.expiresAt ?? 0)
      expect(principal.token?.parentId).toBe(parent.principal.token?.id)
    }
  }
})

function raise(): never {
  throw new Error('it is there')
}

const rank = (access: Access | null) => (access === null ? -1 : accesses.indexOf(access))

test('revoking a token revokes all that were made with it, and ends their sessions', async () => {
  const { shop, permitted, ids } = await twoProjects()
  const parent = await shop.call('token_create', { name: 'parent', kind: 'person', person: 'Ada' })
  const child = await shop.call(
    'token_create',
    { name: 'child', kind: 'person', person: 'Ben' },
    await shop.as(parent.secret),
  )
  const session = await sessionBy(shop, child.secret, ids[0] ?? '')
  const grandchild = await shop.call('token_create', { name: 'grandchild' }, session)
  const other = await shop.call('token_create', { name: 'other', person: 'Ben' })
  expect(grandchild).toMatchObject({ parent_id: child.id })

  const stale = await shop.as(child.secret)
  await shop.call('token_revoke', { token: 'parent' })
  const { tokens } = await shop.call('token_list', { revoked: true })
  const states = Object.fromEntries(
    tokens.map(({ name, state }: Record<'name' | 'state', string>) => [name, state]),
  )
  expect(states).toMatchObject({
    parent: 'revoked',
    child: 'revoked',
    grandchild: 'revoked',
    other: 'valid',
  })
  for (const { secret } of [parent, child, grandchild]) expect(await permitted(secret)).toBeNull()
  expect(await permitted(other.secret)).not.toBeNull()
  expect((await shop.call('session_list')).sessions).toEqual([])
  // A server that let them in a moment ago makes nothing for them any more.
  for (const by of [stale, session]) {
    expect(await shop.refused('token_create', { name: 'late' }, by)).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'token_or_session_ended',
    })
  }
  expect(await shop.context.team?.store.inspect()).toMatchObject({
    differing: 0,
    error: null,
  })
})

test('a disabled person keeps no access through tokens made for others', async () => {
  const { shop, permitted } = await twoProjects()
  await shop.call('person_add', { name: 'Cleo', admin: true })
  const cleo = await shop.call('token_create', { name: 'cleo', kind: 'person', person: 'Cleo' })
  const forBen = await shop.call('token_create', { name: 'x', person: 'Ben' }, await shop.as(cleo.secret))
  const own = await shop.call('token_create', { name: 'own', person: 'Cleo', all_projects: true })
  const stale = await shop.as(cleo.secret)
  await shop.call('person_disable', { person: 'Cleo' })
  for (const { secret } of [cleo, forBen, own]) expect(await permitted(secret)).toBeNull()
  for (const [name, input] of [
    ['token_create', { name: 'late' }],
    ['person_add', { name: 'Eve', admin: true }],
    ['person_enable', { person: 'Cleo' }],
    ['project_add', { name: 'late' }],
  ] as const) {
    expect(await shop.refused(name, input, stale), name).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'token_or_session_ended',
    })
  }
  await shop.call('person_enable', { person: 'Cleo' })
  expect(await permitted(own.secret)).not.toBeNull()
  expect(await permitted(forBen.secret)).toBeNull()
})

test('a limited token manages no people, members and projects beyond its limits', async () => {
  const { shop, api } = await twoProjects()
  const limited = { 'one project': { all_projects: false }, 'owner at most': { access: 'owner' } }
  for (const [name, limit] of Object.entries(limited)) {
    const made = await shop.call('token_create', { name, kind: 'person', person: 'Ada', ...limit })
    const holder = await shop.as(made.secret)
    for (const [operation, input] of [
      ['person_add', { name: 'Eve' }],
      ['person_admin', { person: 'Ben' }],
      ['person_disable', { person: 'Ben' }],
      ['person_enable', { person: 'Ben' }],
      ['project_add', { name: 'new' }],
      ['project_rename', { project: 'shop', name: 'other' }],
      ['token_create', { name: 'for Ben', person: 'Ben' }],
      ['token_create', { name: 'admin', kind: 'person', admin: true }],
    ] as const) {
      expect(await shop.refused(operation, input, holder), `${name}: ${operation}`).toMatchObject({
        code: 'FORBIDDEN',
      })
    }
    expect(await shop.refused('token_revoke', { token: 'first' }, holder)).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'token_not_found',
    })
  }
  const one = await shop.call('token_create', {
    name: 'one',
    kind: 'person',
    person: 'Ada',
    all_projects: false,
  })
  const elsewhere = await api.as(one.secret)
  for (const [operation, input] of [
    ['member_add', { person: 'Ada' }],
    ['member_set', { person: 'Ben', access: 'owner' }],
    ['member_invite', { email: 'eve@example.org' }],
    ['member_remove', { person: 'Ben' }],
    ['token_create', { name: 'there' }],
  ] as const) {
    expect(await api.refused(operation, input, elsewhere), operation).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'access_too_low',
    })
  }
})
