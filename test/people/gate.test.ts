import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { gateSteps } from '../../src/gate/cli/run.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { prune } from '../../src/project/operations/prune.ts'
import { person } from '../support/project.ts'
import { openTeamProject, type TeamProject } from './team-project.ts'

const process = (id: string, guard: string, more = '') => `process:
  dialect: 1
  id: ${id}
  version: "1"
  name: ${id}
  initial_state: work
roles:
  - { name: agent, kind: agent }
  - { name: reviewer, kind: human }
states:
  - { name: work }
  - { name: done, is_final: true }
  - { name: dropped, is_final: true, outcome: failed }
events:
  - { name: go, allowed_roles: [agent] }
  - { name: drop, allowed_roles: [reviewer] }
transitions:
  - { from: work, event: go, to: done, guard: ok${more} }
  - { from: work, event: drop, to: dropped, escape: true }
guards:
  ok: ${guard}
artifacts:
  - { type: plan, paths: ["plan.md"] }
`

/** Ada is an admin; Ben and Cleo are members who may review, and each has an agent. */
async function team(text: string, id: string) {
  const project = await openTeamProject()
  const { call } = project
  project.write(`.waymark/processes/${id}.yaml`, text)
  await call('token_create', { admin: true, person: 'Ada' })
  const tokens: Record<string, string> = {}
  for (const name of ['Ben', 'Cleo']) {
    await call('person_add', { name })
    await call('member_add', { person: name, access: 'maintainer', roles: ['reviewer'] })
    tokens[name] = (await call('token_create', { kind: 'person', person: name })).secret
    tokens[`${name}'s agent`] = (await call('token_create', { name: 'builder', person: name })).secret
  }
  const as = async (who: string) => project.as(tokens[who] ?? '')
  return { project, as }
}

async function worked({ project, as }: Awaited<ReturnType<typeof team>>, id: string, who: string) {
  const agent = await as(who)
  const mission = await project.call(
    'start_mission',
    { name: 'Shop', objective: 'A shop', process_id: id },
    agent,
  )
  const task = await project.call(
    'start_task',
    { mission_id: mission.mission_id, name: 'Plan', areas: ['plan.md'] },
    agent,
  )
  project.write('plan.md', 'The plan.\n')
  await project.call(
    'complete_task',
    { task_id: task.task_id, status: 'success', outcome: { summary: 'Planned.' } },
    agent,
  )
  return mission.run.run_id as string
}

/** A run whose work an agent of Ben did, and that waits for an independent approval. */
async function workOfBensAgent() {
  const members = await team(independent, 'independent')
  const { project, as } = members
  const id = await worked(members, 'independent', "Ben's agent")
  await emitting(project, id)(await as("Ben's agent"), 'go', { artifact_paths: ['plan.md'] }).catch(
    () => null,
  )
  return { ...members, id }
}

function emitting(project: TeamProject, run_id: string) {
  return async (as: Awaited<ReturnType<TeamProject['as']>>, event_name: string, more: object = {}) => {
    const { revision } = await project.call('run_summary', { run_id })
    const key = `key-${Math.random()}`
    return project.call(
      'state_gate_emit_event',
      { run_id, event_name, expected_revision: revision, idempotency_key: key, ...more },
      as,
    )
  }
}

/** What an event was answered or refused with, as text. */
function said(answer: unknown): string {
  return JSON.stringify(answer instanceof Error ? [answer.message, answer] : answer)
}

const independent = process(
  'independent',
  '{ type: approval, role: reviewer, artifact: plan, independent: true }',
  ', when_blocked: record',
)

test('lets another member approve the work, not the owner of its agent (28)', async () => {
  const members = await team(independent, 'independent')
  const { project, as } = members
  const id = await worked(members, 'independent', "Ben's agent")
  const emit = emitting(project, id)
  const builder = await as("Ben's agent")
  const blocked = await emit(builder, 'go', { artifact_paths: ['plan.md'] }).catch((error: Error) => error)
  expect(said(blocked)).toContain('0 of 1 approvals by reviewer of \\"plan\\"')
  const approve = { id, reason: 'Fine.', role: 'reviewer' }
  const refused = await project.refused('approve', approve, await as('Ben'))
  expect(refused).toMatchObject({ code: 'FORBIDDEN', reason: 'own_work' })
  const { approvals } = await project.call('run_history', { run_id: id })
  expect(approvals).toEqual([])
  expect(await project.call('approve', approve, await as('Cleo'))).toMatchObject({
    decided: true,
    approvals: [{ role: 'reviewer', artifact: 'plan' }],
  })
  expect(await emit(builder, 'go')).toMatchObject({ result: { status: 'succeeded' } })
})

test('counts an approval given before the work tree was gone', async () => {
  const twice = process('twice', '{ type: approval, role: reviewer, artifact: changes, count: 2 }')
    .replace('{ name: go, allowed_roles: [agent] }', '{ name: approve, allowed_roles: [reviewer] }')
    .replace('event: go', 'event: approve')
  const { project, as } = await team(twice, 'twice')
  const agent = await as("Ben's agent")
  const { mission_id, run } = await project.call(
    'start_mission',
    { name: 'Shop', objective: 'A shop', process_id: 'twice' },
    agent,
  )
  const tasks = [{ key: 'a', title: 'Plan', phase: 'Build' }]
  const plan = await project.call('plan_tasks', { mission_id, phases: [{ name: 'Build' }], tasks })
  const tree = await project.call('worktree_add', { task_id: plan.tasks[0].id })
  const planned = { planned_task_id: plan.tasks[0].id, areas: ['plan.md'] }
  const { task_id } = await project.call('start_task', planned, agent)
  writeFileSync(join(tree.path, 'plan.md'), 'The plan.\n')
  const outcome = { summary: 'Planned.' }
  await project.call('complete_task', { task_id, status: 'success', outcome }, agent)
  const approve = async (who: string) => project.call('approve', { id: run.run_id }, await as(who))
  expect(await approve('Ben')).toMatchObject({ decided: false })
  rmSync(tree.path, { recursive: true })
  expect(await approve('Cleo')).toMatchObject({ decided: true, status: 'succeeded' })
})

test('names who can approve: not who worked on it, nor who has too little access', async () => {
  const { project } = await workOfBensAgent()
  await project.call('person_add', { name: 'Dan' })
  await project.call('member_add', { person: 'Dan', access: 'contributor', roles: ['reviewer'] })
  await project.call('person_add', { name: 'Eve' })
  await project.call('member_add', { person: 'Eve', access: 'maintainer' })
  const { secret } = await project.call('token_create', { kind: 'person', person: 'Eve' })
  const told = async () => {
    const { items } = await project.call('inbox', { kind: 'approval' }, await project.as(secret))
    return items[0].cannot_approve
  }
  expect(await told()).toMatch(/project. Cleo can approve it/)
  await project.call('member_set', { person: 'Cleo', roles: [] })
  expect(await told()).toContain('Nor can those who have it')
})

test('an admin is a member with an owner’s access, and approves in the gate roles that they were given', async () => {
  const { project } = await workOfBensAgent()
  const { call } = project
  const { secret } = await call('token_create', { kind: 'person', person: 'Ada' })
  const ada = await project.as(secret)
  const members = async () => (await call('member_list', {}, ada)).members
  expect(await members()).toContainEqual(
    expect.objectContaining({
      person: expect.objectContaining({ name: 'Ada' }),
      access: 'owner',
      admin: true,
    }),
  )
  const { items } = await call('inbox', { kind: 'approval' }, ada)
  expect(items[0].cannot_approve).toContain('Cleo can approve it')
  // An access of their own counts for nothing while they are admins.
  const set = await call('member_set', { person: 'Ada', access: 'contributor', roles: ['reviewer'] }, ada)
  expect(set).toMatchObject({ access: 'owner', admin: true })
  expect(await call('member_set', { person: 'Cleo', roles: [] }, ada)).toMatchObject({ roles: [] })
  await call('person_add', { name: 'Eve' })
  await call('member_add', { person: 'Eve', access: 'maintainer' })
  const eve = await project.as((await call('token_create', { kind: 'person', person: 'Eve' })).secret)
  expect((await call('inbox', { kind: 'approval' }, eve)).items[0].cannot_approve).toContain(
    'Ada can approve it',
  )
  const approvals = await call('inbox', { kind: 'approval' }, await project.as(secret))
  expect(approvals.items[0].cannot_approve).toBeNull()
})

test('removes no admin from a project', async () => {
  const project = await openTeamProject()
  await project.call('token_create', { admin: true, person: 'Ada' })
  const refused = await project.refused('member_remove', { person: 'Ada' })
  expect(refused).toMatchObject({ code: 'CONFLICT', reason: 'member_is_admin' })
})

test('counts in a status only what the person can answer', async () => {
  const { project } = await workOfBensAgent()
  const { call } = project
  await call('person_add', { name: 'Dan' })
  await call('member_add', { person: 'Dan', access: 'contributor' })
  const tokens = [
    (await call('token_create', { kind: 'person', person: 'Dan' })).secret,
    (await call('token_create', { name: 'helper', person: 'Dan' })).secret,
  ]
  const [dan, agent] = await Promise.all(tokens.map(project.as))
  const counts = async (as: typeof dan) => {
    const { waiting, waiting_for_others } = await call('status', {}, as)
    return [waiting, waiting_for_others]
  }
  const { total } = await call('inbox', {}, dan)
  expect(total).toBeGreaterThan(0)
  expect(await counts(dan)).toEqual([0, total])
  const { task_id } = await call('start_task', { name: 'Help' }, agent)
  await call(
    'log_issue',
    { task_id, type: 'unclear_requirement', description: 'Which?', requires_human_review: true },
    agent,
  )
  expect(await counts(dan)).toEqual([1, total])
  expect(await counts(agent)).toEqual([total + 1, 0])
})

test('gives an address later to the person of an id, and to nobody of the same name or twice', async () => {
  const project = await openTeamProject()
  await project.call('token_create', { admin: true, person: 'Ada', name: 'first' })
  const given = { name: 'Ada', email: 'ada@example.com' }
  const [ada] = (await project.call('person_list')).people
  // It may be somebody else's, who would become an admin with it.
  await expect(project.call('person_add', given)).rejects.toMatchObject({
    reason: 'person_exists',
    hint: expect.stringContaining(`waymark person add ${ada.id} --email`),
  })
  expect(await project.call('person_add', { ...given, name: ada.id })).toMatchObject(given)
  expect((await project.call('person_list')).people).toMatchObject([given])
  await expect(project.call('person_add', { ...given, name: 'u-nobody' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
  const ben = await project.call('person_add', { name: 'Ben' })
  for (const { id } of [ada, ben]) {
    await expect(project.call('person_add', { ...given, name: id })).rejects.toMatchObject({
      reason: 'person_exists',
    })
  }
})

test('offers the events of a run only to whoever has their gate role', async () => {
  const { project, as } = await workOfBensAgent()
  await project.call('person_add', { name: 'Dan' })
  await project.call('member_add', { person: 'Dan', access: 'maintainer' })
  const { secret } = await project.call('token_create', { kind: 'person', person: 'Dan' })
  const offered = async (who: Awaited<ReturnType<typeof as>>) => {
    const { items } = await project.call('inbox', { kind: 'approval', include: ['evidence'] }, who)
    const { answers, evidence } = items[0]
    return [
      ...answers.map(({ command }: { readonly command: string }) => command.split(' ')[1]),
      ...evidence.choices.map(({ event }: { readonly event: string }) => event),
    ]
  }
  expect(await offered(await as('Cleo'))).toEqual(['approve', 'decide', 'drop'])
  expect(await offered(await project.as(secret))).toEqual([])
})

test('says who can decide to whoever has no answer', async () => {
  const text = process('decided', '{ type: context, variable: x, condition: exists }')
  const { project, as } = await team(
    text.replace('go, allowed_roles: [agent]', 'go, allowed_roles: [reviewer]'),
    'decided',
  )
  await project.call(
    'start_mission',
    { name: 'M', objective: 'O', process_id: 'decided' },
    await as("Ben's agent"),
  )
  const { secret } = await project.call('token_create', { kind: 'person', person: 'Ada' })
  const { items } = await project.call('inbox', { kind: 'approval' }, await project.as(secret))
  expect(items).toMatchObject([
    {
      answers: [],
      cannot_approve:
        'It needs the gate role "reviewer", which Ada does not have. Ben and Cleo can decide it.',
    },
  ])
})

test('refuses an approval by the owner of an agent whose attempt was taken over (28)', async () => {
  const members = await team(independent, 'independent')
  const { project, as } = members
  const { mission_id } = await project.call(
    'start_mission',
    { name: 'M', objective: 'O' },
    await as("Ben's agent"),
  )
  const { task_id } = await project.call('start_task', { mission_id, name: 'T' }, await as("Ben's agent"))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 60 * 60_000 })
  onTestFinished(() => void vi.useRealTimers())
  const cleos = await as("Cleo's agent")
  await project.call('start_task', { planned_task_id: task_id, take_over: true }, cleos)
  project.write('plan.md', '# Plan\n')
  await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } }, cleos)
  const created = { process_id: 'independent', mission_id }
  const { run_id: id } = await project.call('state_gate_create_run', created, cleos)
  await emitting(project, id)(cleos, 'go', { artifact_paths: ['plan.md'] }).catch(() => null)
  const refused = await project.refused('approve', { id, reason: 'Fine.', role: 'reviewer' }, await as('Ben'))
  expect(refused).toMatchObject({ code: 'FORBIDDEN', reason: 'own_work' })
})

test('counts what an agent sent as the work of its owner, also after the approval (28)', async () => {
  const members = await team(independent, 'independent')
  const { project, as } = members
  const id = await worked(members, 'independent', "Ben's agent")
  const emit = emitting(project, id)
  await emit(await as("Ben's agent"), 'go', { artifact_paths: ['plan.md'] }).catch(() => null)
  await project.call('approve', { id, reason: 'Fine.', role: 'reviewer' }, await as('Cleo'))
  // Cleo's agent hands the same file in: now it is hers as well.
  const blocked = await emit(await as("Cleo's agent"), 'go', { artifact_paths: ['plan.md'] }).catch(
    (error: Error) => error,
  )
  expect(said(blocked)).toContain('the person whose agent did the work cannot approve it')
})

test('accepts no approval as independent while the owner of an agent is unknown (28)', async () => {
  const { project, id } = await workOfBensAgent()
  const refused = await project.refused(
    'approve',
    { id, reason: 'Fine.', role: 'reviewer' },
    { actor: person },
  )
  expect(refused).toMatchObject({ code: 'REFUSED', reason: 'author_unknown' })
})

test('a role for people is nobody’s who does not have it, and never an agent’s (24)', async () => {
  const members = await team(independent, 'independent')
  const { project, as } = members
  const id = await worked(members, 'independent', "Ben's agent")
  const emit = emitting(project, id)
  const before = await project.context.store.view(({ eventLog: log }) => log.head())
  const builder = await as("Ben's agent")
  // It was made before the process kept the role for people.
  const disguised = { ...builder, actor: { ...builder.actor, role: 'reviewer' } }
  for (const agent of [builder, disguised]) {
    await expect(emit(agent, 'drop', { role: 'reviewer' })).rejects.toMatchObject({
      code: expect.any(String),
    })
    await expect(emit(agent, 'drop')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await project.refused('approve', { id, role: 'reviewer', reason: 'Me.' }, agent)).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'person_needed',
    })
  }
  await project.call('member_set', { person: 'Ben', roles: ['tester'] })
  const ben = await as('Ben')
  expect(
    await project.refused('decide', { run_id: id, event: 'drop', reason: 'No.', role: 'reviewer' }, ben),
  ).toMatchObject({ code: 'FORBIDDEN', reason: 'event_forbidden' })
  expect(await project.refused('approve', { id, reason: 'Fine.', role: 'reviewer' }, ben)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'gate_role_missing',
    hint: 'An owner can add it: waymark member set Ben --roles tester,reviewer',
  })
  const projectEvents = await project.context.store.view(({ eventLog: log }) => log.since(before, 100))
  expect([...new Set(projectEvents.map(({ body }) => body.kind))].sort()).toEqual([
    'member.set',
    'run.refused',
  ])
  expect(await project.call('run_summary', { run_id: id })).toMatchObject({ current_state: 'work' })
  await project.call('decide', { run_id: id, event: 'drop', reason: 'No.' }, await as('Cleo'))
  expect(await project.call('run_summary', { run_id: id })).toMatchObject({ current_state: 'dropped' })
})

const byRunner = process(
  'by-runner',
  '{ type: command, run: "node --version", timeout: 30s, reported_by: runner }',
)

test('a command that a runner must have run counts only with a runner’s token', async () => {
  const members = await team(byRunner, 'by-runner')
  const { project, as } = members
  const id = await worked(members, 'by-runner', "Ben's agent")
  const emit = emitting(project, id)
  const builder = await as("Ben's agent")
  const blocked = await emit(builder, 'go').catch((error: Error & { details?: unknown }) => error)
  expect(said(blocked)).toContain('no runner has run \\"node --version\\"')
  // Nothing was run or asked about for somebody who is no runner.
  expect((await project.call('inbox', { kind: 'command' })).items).toEqual([])
  const { secret } = await project.call('token_create', { name: 'ci', kind: 'runner', person: 'Ada' })
  const ci = await project.as(secret)
  expect(ci.actor).toMatchObject({ name: 'ci', kind: 'agent', runner: true })
  await emit(ci, 'go').catch(() => null)
  const { items } = await project.call('inbox', { kind: 'command' })
  await project.call('approve', { id: items[0].item_id, reason: 'It may.' }, await as('Cleo'))
  await project.call('verify', { run_id: id }, ci)
  expect(await emit(builder, 'go')).toMatchObject({ result: { status: 'succeeded' } })
  const found = await project.context.store.inspect()
  expect(found).toMatchObject({ differing: 0, error: null })
})

const here = process('here', '{ type: command, run: "node --version", timeout: 30s }')

test('what the server ran of a command does not count where a runner must have run it', async () => {
  const members = await team(byRunner, 'by-runner')
  const { project, as } = members
  project.write('.waymark/processes/here.yaml', here)
  const builder = await as("Ben's agent")
  const id = await worked(members, 'by-runner', "Ben's agent")
  const other = await worked(members, 'here', "Ben's agent")
  await emitting(project, other)(builder, 'go').catch(() => null)
  const { items } = await project.call('inbox', { kind: 'command' })
  await project.call('approve', { id: items[0].item_id, reason: 'It may.' }, await as('Cleo'))
  expect(await emitting(project, other)(builder, 'go')).toMatchObject({ result: { status: 'succeeded' } })
  const blocked = await emitting(project, id)(builder, 'go').catch((error: Error) => error)
  expect(said(blocked)).toContain('no runner has run \\"node --version\\"')
})

const talkative = process(
  'talkative',
  '{ type: command, run: "node long.mjs", timeout: 30s, reported_by: runner }',
)

test('returns the whole output of a runner’s command until it expires', async () => {
  const members = await team(talkative, 'talkative')
  const { project, as } = members
  project.write('long.mjs', "for (let at = 0; at < 900; at += 1) console.log('line', at)\n")
  const id = await worked(members, 'talkative', "Ben's agent")
  const { secret } = await project.call('token_create', { name: 'ci', kind: 'runner', person: 'Ada' })
  const ci = await project.as(secret)
  await emitting(project, id)(ci, 'go').catch(() => null)
  const { items } = await project.call('inbox', { kind: 'command' })
  await project.call('approve', { id: items[0].item_id, reason: 'It may.' }, await as('Cleo'))
  await project.call('verify', { run_id: id }, ci)
  const seen = async () => (await project.call('verify', { run_id: id }, await as("Ben's agent"))).commands[0]
  expect((await seen()).output).toMatch(/^line 0\n[\s\S]*line 899\n$/)

  await project.call('setting_set', { name: 'retention_days', value: '90' })
  const later = Date.now() + 91 * 24 * 60 * 60 * 1000
  const context = { ...project.context, clock: { now: () => later } }
  expect(await invoke(prune, context, {})).toMatchObject({ removed_outputs: 1 })
  const { output, output_removed_at: removed } = await seen()
  expect(output).toMatch(
    /^Its output \(\d+ bytes\) was removed on \d{4}-\d\d-\d\d\. The last lines:\n[\s\S]*line 899\n$/,
  )
  expect(output).not.toContain('line 0\n')
  expect(removed).toBe(new Date(later).toISOString())
  expect(await project.context.store.inspect()).toMatchObject({ differing: 0, error: null })
})

test('a person who may not send the next event reads who may', async () => {
  const both = process('both', '{ type: task, condition: all_done }').replace(
    '[agent] }',
    '[agent, reviewer] }',
  )
  const members = await team(both, 'both')
  const { project, as } = members
  await project.call('member_set', { person: 'Cleo', access: 'contributor', roles: [] })
  const id = await worked(members, 'both', "Ben's agent")
  const steps = async (who: string) => {
    const { missions } = await project.call('status', {}, await as(who))
    return missions.flatMap(gateSteps)
  }
  expect(await steps('Cleo')).toEqual(['Ben (reviewer) or an agent sends go'])
  expect(await steps('Ben')).toEqual([`waymark run emit ${id} go`])
})

test('a contributor reads that a maintainer approves the command of a check', async () => {
  const { project, as } = await team(independent, 'independent')
  await project.call('member_set', { person: 'Cleo', access: 'contributor', roles: [] })
  const cleo = await as('Cleo')
  const done_when = { check: ['node -e 1'] }
  const { task_id } = await project.call('start_task', { name: 'Plan', goal: 'g', done_when }, cleo)
  const verify = async (who: string) => {
    const answer = await project.call('verify', { run_id: task_id }, await as(who))
    return answer.commands[0]
  }
  expect(await verify('Cleo')).toMatchObject({ status: 'unapproved', for_maintainer: true })
  expect(await verify('Ben')).not.toHaveProperty('for_maintainer')
})
