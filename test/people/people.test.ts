import { expect, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import { inboxList, inbox as inboxText } from '../../src/inbox/cli/inbox.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import { taskPage } from '../../src/plan/cli/task.ts'
import { status as statusText } from '../../src/project/cli/project.ts'
import { agentActor, person } from '../support/project.ts'
import { openTeamProject, standingOf } from './team-project.ts'

async function eventsIn({ team }: Context): Promise<readonly NewProjectEvent[]> {
  const events = await team?.store.view(({ eventLog: log }) => log.since(0, 100))
  return (events ?? []).map(({ body }) => body)
}

/** What comes after `wm1_` and the twelve characters of its id. */
const secretIn = (token: string) => token.slice(17)

test('the first admin is made by whoever can write the database, with a token that is shown once', async () => {
  const { call, context } = await openTeamProject()
  const made = await call('token_create', { admin: true, person: 'Ada' })
  expect(made).toMatchObject({ name: 'Ada', kind: 'person', project_id: null, state: 'valid' })
  expect(made.secret).toMatch(/^wm1_[0-9a-z]{12}_[\w-]{43}$/)
  const { people } = await call('person_list')
  expect(people).toMatchObject([{ name: 'Ada', admin: true, state: 'active' }])
  const { tokens } = await call('token_list')
  expect(tokens).toHaveLength(1)
  expect(JSON.stringify(tokens)).not.toContain(secretIn(made.secret))
  const days = (Date.parse(made.expires_at) - Date.parse(made.created_at)) / 86_400_000
  expect(days).toBe(90)
  expect((await eventsIn(context)).map(({ kind }) => kind)).toEqual([
    'project.created',
    'person.added',
    'token.created',
  ])
})

test('every change is a log entry, and no log entry holds a secret or its hash (44)', async () => {
  const { call, context } = await openTeamProject()
  const { secret, id } = await call('token_create', { admin: true, person: 'Ada' })
  const { secret: other } = await call('token_create', {
    name: 'ci',
    kind: 'runner',
    person: 'Ada',
    all_projects: true,
  })
  await call('token_revoke', { token: 'ci' })
  await call('member_add', { person: 'Ada', access: 'owner' })
  const team = JSON.stringify(await eventsIn(context))
  const project = JSON.stringify(await context.store.view(({ eventLog: log }) => log.since(0, 100)))
  for (const text of [secret, other]) {
    const hidden = secretIn(text)
    for (const kept of [hidden, context.team?.hashOf(hidden) ?? '']) {
      expect(team).not.toContain(kept)
      expect(project).not.toContain(kept)
    }
  }
  expect(project).toContain('"member.set"')
  const kept = await context.team?.store.view(({ identities }) => identities.secret(id))
  expect(kept?.hash).toBe(context.team?.hashOf(secretIn(secret)))
})

test('what the log entries make of persons and tokens is what the tables hold', async () => {
  const { call, context } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  await call('person_add', { name: 'Ben', email: 'Ben@Example.org' })
  await call('member_add', { person: 'Ben', roles: ['reviewer'] })
  await call('member_set', { person: 'Ben', access: 'maintainer' })
  await call('token_create', { name: 'agent', person: 'Ben', role: 'builder' })
  await call('token_revoke', { token: 'agent' })
  await call('person_disable', { person: 'Ben' })
  for (const store of [context.store, context.team?.store]) {
    const found = await store?.inspect()
    expect(found).toMatchObject({ brokenAt: null, error: null, differing: 0 })
    expect(found?.rows).toBeGreaterThan(1)
  }
})

test('members are made, changed and removed, and a project keeps an owner', async () => {
  const { call, refused } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  await call('person_add', { name: 'Ben', email: 'ben@example.org' })
  await call('member_add', { person: 'Ada', access: 'owner' })
  expect(await call('member_add', { person: 'ben@example.org' })).toMatchObject({
    person: { name: 'Ben' },
    access: 'contributor',
    roles: [],
    state: 'invited',
  })
  expect(await refused('member_add', { person: 'Ben' })).toMatchObject({
    code: 'CONFLICT',
    reason: 'member_exists',
  })
  expect(await refused('member_remove', { person: 'Ada' })).toMatchObject({
    code: 'CONFLICT',
    reason: 'last_owner',
  })
  expect(await refused('member_set', { person: 'Ada', access: 'viewer' })).toMatchObject({
    code: 'CONFLICT',
    reason: 'last_owner',
  })
  expect(await refused('member_set', { person: 'Cleo' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'person_not_found',
  })
  expect((await refused('member_set', { person: 'ada' })).hint).toContain(': Ada.')
  await call('member_set', { person: 'Ben', access: 'owner', roles: ['reviewer'] })
  await call('member_remove', { person: 'Ada' })
  const { members } = await call('member_list')
  expect(members).toMatchObject([
    { person: { name: 'Ben' }, access: 'owner', roles: ['reviewer'], admin: false },
    { person: { name: 'Ada' }, access: 'owner', roles: [], admin: true },
  ])
})

test('who is invited by e-mail address is a person and a member, once', async () => {
  const { call } = await openTeamProject()
  await call('member_invite', { email: 'Cleo@Example.org', access: 'viewer' })
  await call('member_invite', { email: 'cleo@example.org', access: 'maintainer' })
  const { people } = await call('person_list')
  expect(people).toMatchObject([{ name: 'cleo', email: 'cleo@example.org', state: 'invited' }])
  expect((await call('member_list')).members).toMatchObject([{ access: 'maintainer' }])
})

test('a person has names of their own, and the only admin stays', async () => {
  const { call, refused } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  expect(await refused('person_add', { name: 'Ada' })).toMatchObject({
    code: 'CONFLICT',
    reason: 'person_exists',
  })
  expect(await refused('person_add', { name: 'Eve', email: 'no address' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'input_invalid',
    details: { fields: ['email'] },
  })
  expect(await refused('person_disable', { person: 'Ada' })).toMatchObject({
    code: 'CONFLICT',
    reason: 'last_admin',
  })
  await call('person_add', { name: 'Ben', admin: true })
  expect(await call('person_disable', { person: 'Ada' })).toMatchObject({ state: 'disabled' })
  expect(await refused('token_create', { person: 'Ada', name: 'again', all_projects: true })).toMatchObject({
    code: 'CONFLICT',
    reason: 'person_disabled',
  })
  expect(await call('person_enable', { person: 'Ada' })).toMatchObject({ state: 'active' })
})

test('a token is made for at most a year, under a name of its own, and for others by admins alone', async () => {
  const { call, refused } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  const { id } = await call('person_add', { name: 'Ben' })
  await call('member_add', { person: 'Ben' })
  const ben = standingOf('contributor', { personId: id, personName: 'Ben' })
  expect(await refused('token_create', { name: 'a', days: 366 }, { permissions: ben })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'input_invalid',
    details: { fields: ['days'] },
  })
  await call('token_create', { name: 'a', days: 365 }, { permissions: ben })
  expect(await refused('token_create', { name: 'a' }, { permissions: ben })).toMatchObject({
    code: 'CONFLICT',
    reason: 'token_exists',
  })
  expect(await refused('token_create', { name: 'b', person: 'Ada' }, { permissions: ben })).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'token_for_other_person',
  })
  expect(await refused('token_create', { admin: true }, { permissions: ben })).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'admin_needed',
  })
  expect(await refused('token_create', { name: 'b', kind: 'runner' }, { permissions: ben })).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'access_too_low',
  })
  expect(
    await refused('token_create', { kind: 'person', role: 'reviewer' }, { permissions: ben }),
  ).toMatchObject({ code: 'FORBIDDEN', reason: 'gate_role_missing' })
  expect(await refused('token_create', { name: 'c' }, { actor: agentActor })).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'person_needed',
  })
  expect((await call('token_list', {}, { permissions: ben })).tokens).toMatchObject([{ name: 'a' }])
  expect(await refused('token_list', { all: true }, { permissions: ben })).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'access_too_low',
  })
  expect(await refused('token_revoke', { token: 'Ada' }, { permissions: ben })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'token_not_found',
  })
  expect(await call('token_revoke', { token: 'a' }, { permissions: ben })).toMatchObject({ state: 'revoked' })
})

test('a token without a chosen name gets a free one', async () => {
  const { call } = await openTeamProject()
  const names: string[] = []
  for (const input of [
    { admin: true, person: 'Ada' },
    { kind: 'person', person: 'Ada' },
    { kind: 'person', person: 'Ada' },
    { person: 'Ada', all_projects: true },
    { person: 'Ada', all_projects: true },
  ])
    names.push((await call('token_create', input)).name)
  expect(names).toEqual(['Ada', 'Ada-2', 'Ada-3', 'agent', 'agent-2'])
  await call('token_revoke', { token: 'Ada-2' })
  expect(await call('token_create', { kind: 'person', person: 'Ada' })).toMatchObject({ name: 'Ada-2' })
})

test('more access for a member names the tokens that permit less, if they have no other', async () => {
  const { call } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  await call('person_add', { name: 'Ben' })
  await call('member_add', { person: 'Ben', access: 'viewer' })
  const limited = { kind: 'person', person: 'Ben', access: 'contributor' }
  const { id } = await call('token_create', limited)
  await call('token_create', { person: 'Ben', access: 'viewer', all_projects: true })
  const set = async (access: string) => (await call('member_set', { person: 'Ben', access })).limited_tokens
  expect(await set('contributor')).toEqual([])
  expect(await set('maintainer')).toEqual([{ id, name: 'Ben', access: 'contributor' }])
  expect(await set('maintainer')).toEqual([])
  expect(await set('viewer')).toEqual([])
  await call('token_create', { kind: 'person', person: 'Ben' })
  expect(await set('owner')).toEqual([])
})

test('a token with a limit lets its person do no more than that, and makes none that lets more', async () => {
  const { call, refused, as, context } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  await call('person_add', { name: 'Ben' })
  await call('member_add', { person: 'Ben', access: 'contributor' })
  const limited = async (person: string, access: string, name = `${person} ${access}`) =>
    as((await call('token_create', { name, kind: 'person', person, access })).secret)

  const reads = await limited('Ada', 'viewer')
  expect(await call('whoami')).toMatchObject({
    restricted: false,
    note: expect.stringContaining(person.name),
  })
  expect(await call('whoami', {}, reads)).toMatchObject({
    access: 'viewer',
    max_access: 'viewer',
    admin: false,
  })
  expect(await call('list_missions', {}, reads)).toMatchObject({ missions: [] })
  const own = { form: 'slack', url: 'https://chat.example/hook' }
  for (const [name, input] of [
    ['start_mission', { name: 'A', objective: 'B' }],
    ['token_create', { name: 'more' }],
    ['token_revoke', { token: 'Ada' }],
    ['notify_add', own],
  ] as const) {
    expect(await refused(name, input, reads)).toMatchObject({ code: 'FORBIDDEN', reason: 'token_read_only' })
  }

  const works = await limited('Ada', 'contributor')
  expect(await call('notify_add', own, works)).toMatchObject({ own: true })
  expect(await refused('member_add', { person: 'Ben' }, works)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'token_access_too_low',
  })
  expect(await refused('person_add', { name: 'Cleo' }, works)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'token_access_too_low',
  })
  expect(await refused('token_create', { name: 'x', kind: 'person', access: 'owner' }, works)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'token_limit',
  })
  expect(await refused('token_create', { name: 'x', kind: 'person', admin: true }, works)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'admin_needed',
  })
  expect(await call('token_create', { name: 'same', kind: 'person' }, works)).toMatchObject({
    access: 'contributor',
  })
  expect(await call('token_create', { name: 'less', access: 'viewer' }, works)).toMatchObject({
    kind: 'agent',
    access: 'viewer',
  })

  const owns = await limited('Ada', 'owner')
  expect(await call('whoami', {}, owns)).toMatchObject({ access: 'owner', max_access: 'owner', admin: false })
  expect(await refused('person_add', { name: 'Cleo' }, owns)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'token_access_too_low',
  })
  expect(await call('token_create', { name: 'worker' }, owns)).toMatchObject({ access: 'contributor' })
  // A limit above what the person may gives nothing.
  expect(await call('whoami', {}, await limited('Ben', 'owner'))).toMatchObject({ access: 'contributor' })

  const agent = await as(
    (await call('token_create', { name: 'looks', person: 'Ben', access: 'viewer' })).secret,
  )
  expect(await refused('start_task', { name: 'A' }, agent)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'token_read_only',
  })
  expect(await refused('token_create', { name: 'x', person: 'Ben', access: 'maintainer' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'access_too_high',
  })
  expect(await refused('token_create', { admin: true, person: 'Ada', access: 'viewer' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'access_with_admin',
  })
  const { tokens } = await call('token_list')
  expect(tokens).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ name: 'Ada', access: null })]),
  )
  const found = await context.team?.store.inspect()
  expect(found).toMatchObject({ brokenAt: null, error: null, differing: 0 })
})

test('no agent gets a token with a role that a process keeps for people (24)', async () => {
  const { call, refused } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  const said = await refused('token_create', {
    name: 'x',
    person: 'Ada',
    role: 'reviewer',
    all_projects: true,
  })
  expect(said).toMatchObject({ code: 'FORBIDDEN', reason: 'role_for_people' })
})

test('a project without a named database knows no persons, and says how to have some', async () => {
  const { context, refused } = await openTeamProject()
  const { team: _, ...alone } = context
  const { personList } = await import('../../src/people/operations/people.ts')
  const { invoke } = await import('../../src/kernel/operations/invoke.ts')
  await expect(invoke(personList, alone, {})).rejects.toMatchObject({ reason: 'named_database_needed' })
  expect(await refused('person_disable', { person: 'Nobody' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'person_not_found',
  })
})

test('a person is made an admin and no longer is one, and the last admin stays', async () => {
  const { call, context } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  await call('person_add', { name: 'Ben' })
  await expect(call('person_admin', { person: 'Ada', end: true })).rejects.toMatchObject({
    code: 'CONFLICT',
    reason: 'last_admin',
    message: expect.stringContaining('Ada'),
  })
  expect(await call('person_admin', { person: 'Ben' })).toMatchObject({ name: 'Ben', admin: true })
  expect(await call('person_admin', { person: 'Ada', end: true })).toMatchObject({ admin: false })
  await expect(call('person_disable', { person: 'Ben' })).rejects.toMatchObject({
    code: 'CONFLICT',
    reason: 'last_admin',
    message: expect.stringContaining('Ben'),
  })
  await expect(call('person_admin', { person: 'Ben', end: true })).rejects.toMatchObject({
    code: 'CONFLICT',
    reason: 'last_admin',
    message: expect.stringContaining('Ben'),
  })
  await call('person_disable', { person: 'Ada' })
  await expect(call('person_admin', { person: 'Ada' })).rejects.toMatchObject({
    code: 'CONFLICT',
    reason: 'person_disabled',
    message: expect.stringContaining('Ada'),
  })
  const changes = (await eventsIn(context)).filter(({ kind }) => kind === 'person.changed')
  expect(changes).toMatchObject([
    { name: 'Ben', changes: { admin: true } },
    { name: 'Ada', changes: { admin: false } },
    { name: 'Ada', changes: { disabledAt: expect.any(Number) } },
  ])
  expect(await context.team?.store.inspect()).toMatchObject({ differing: 0, error: null })
})

test('show names the people behind the agents that began and completed a task', async () => {
  const { call, as } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  await call('start_mission', { name: 'Speed', objective: 'Be fast' })
  const { secret } = await call('token_create', { name: 'builder', person: 'Ada', access: 'contributor' })
  const agent = await as(secret)
  const { task_id } = await call('start_task', { name: 'Cache', goal: 'Cache it', areas: ['src'] }, agent)
  await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } }, agent)
  expect((await call('show', { id: task_id }, agent)).attempts).toMatchObject([
    { person: 'Ada', claimed_by_person: 'Ada' },
  ])
})

test('a correction and a card of the inbox name the person behind the agent', async () => {
  const { call, as } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  await call('start_mission', { name: 'Speed', objective: 'Be fast' })
  const { secret } = await call('token_create', { name: 'builder', person: 'Ada', access: 'contributor' })
  const agent = await as(secret)
  const { task_id } = await call('start_task', { name: 'Cache', goal: 'Cache it', areas: ['src'] }, agent)
  const asked = { type: 'other', description: 'How big?', requires_human_review: true }
  await call('log_issue', { task_id, ...asked }, agent)
  const outcome = { summary: 'Done.', no_change_reason: 'It was there.' }
  await call('complete_task', { task_id, status: 'success', outcome }, agent)
  await call('complete_task', { task_id, correction: 'Only in memory.' }, agent)
  const { items } = await call('inbox', {}, agent)
  expect(items).toMatchObject([{ kind: 'blocker', opened_by_person: 'Ada' }])
  const shown = await call('show', { id: task_id }, agent)
  expect(shown.attempts[0].corrections).toMatchObject([{ text: 'Only in memory.', person: 'Ada' }])
  expect(shown.items).toMatchObject([{ kind: 'blocker', opened_by_person: 'Ada' }])
  const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() }
  expect(taskPage(shown, page as never)).toMatch(/\(Ada\) added .*Only in memory/)
  expect(inboxList(shown.items, page as never)).toMatch(/opened by \S+ \(Ada\)/)
})

test('a contributor reads who accepts contradicted work, in the inbox and on the page of its task', async () => {
  const { call, as } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  await call('person_add', { name: 'Cleo' })
  await call('member_add', { person: 'Cleo', access: 'contributor' })
  const agent = await as((await call('token_create', { name: 'codex', person: 'Cleo' })).secret)
  const cleo = await as((await call('token_create', { kind: 'person', person: 'Cleo' })).secret)
  const { task_id: id } = await call('start_task', { name: 'Tax', goal: 'g' }, agent)
  await call('complete_task', { task_id: id, status: 'success', outcome: { summary: 'Did it.' } }, agent)
  const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() } as never
  const shown = await call('show', { id }, cleo)
  const listed = await call('inbox', { include: ['evidence'] }, cleo)
  for (const text of [taskPage(shown, page), inboxText(listed as never, page)]) {
    expect(text).toContain('that their own agents ask, not what Waymark asks about the work')
    expect(text).toContain('contradicted')
    expect(text).toContain('You cannot approve it. It needs maintainer access, and Cleo has contributor.')
    expect(text).not.toContain('waymark approve')
  }
  expect(taskPage(await call('show', { id }), page)).toContain('waymark approve')
})

test('status names the person whose agent did the work that was sent back', async () => {
  const { call, as } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  const people: Record<string, Awaited<ReturnType<typeof as>>> = {}
  for (const name of ['Ben', 'Cleo']) {
    await call('person_add', { name })
    await call('member_add', { person: name, access: 'maintainer' })
    people[name] = await as((await call('token_create', { kind: 'person', person: name })).secret)
  }
  const agent = await as((await call('token_create', { name: 'codex', person: 'Cleo' })).secret)
  const { task_id: id } = await call('start_task', { name: 'Tax', goal: 'g' }, agent)
  await call('complete_task', { task_id: id, status: 'success', outcome: { summary: 'Did it.' } }, agent)
  const items = await call('inbox', {}, people['Ben'])
  await call('reject', { id: items.items[0].item_id, reason: 'Do it.' }, people['Ben'])
  const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() } as never
  const shown = async (name: string) => statusText((await call('status', {}, people[name])) as never, page)
  expect(await shown('Ben')).toContain('"Tax": tell Cleo, whose agent codex did it')
  expect(await shown('Cleo')).toContain(`"Tax": tell your agent to go on; by hand: waymark task start ${id}`)
})

test('a contributor answers a question of their own agent, and nothing else', async () => {
  const { call, refused, as } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  const member = async (name: string) => {
    await call('person_add', { name })
    await call('member_add', { person: name, access: 'contributor' })
    return {
      person: await as((await call('token_create', { kind: 'person', person: name })).secret),
      agent: await as((await call('token_create', { name: `${name}-agent`, person: name })).secret),
    }
  }
  const [ben, cleo] = [await member('Ben'), await member('Cleo')]
  const { task_id } = await call('start_task', { name: 'Sign in', areas: ['src'] }, ben.agent)
  for (const description of ['Cookies or tokens?', 'Which name?'])
    await call('log_issue', { task_id, type: 'other', description, requires_human_review: true }, ben.agent)
  const { items } = await call('inbox', {}, ben.agent)
  const [first, second] = items.map(({ item_id }: { readonly item_id: string }) => item_id)
  const offered = async (who: Awaited<ReturnType<typeof as>>) =>
    (await call('inbox', {}, who)).items.map(
      ({ answers }: { readonly answers: readonly { readonly verb: string }[] }) =>
        answers.map(({ verb }) => verb),
    )
  expect(await offered(ben.person)).toEqual([['Answer'], ['Answer']])
  expect(await offered(cleo.person)).toEqual([[], []])
  const answer = { id: first, answer: 'Cookies.' }
  expect(await refused('resolve', answer, cleo.person)).toMatchObject({ reason: 'access_too_low' })
  expect(await call('resolve', answer, ben.person)).toMatchObject({ status: 'resolved', closed_by: 'Ben' })
  expect(await refused('resolve', { id: second, dismiss: true }, ben.person)).toMatchObject({
    code: 'FORBIDDEN',
  })
})
