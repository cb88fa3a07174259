import { expect, test } from 'vitest'
import { openTeam } from '../people/team-server.ts'
import { runProgram } from '../support/program.ts'
import { type Answer, openProject } from '../support/project.ts'
import { callerAt } from './machine-call.ts'
import { connectedMachine, teamServer } from './machines.ts'

const checked = `process: { dialect: 1, id: checked, version: "1.0.0", name: Checked, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: tests }]
guards:
  tests: { type: command, run: "npm test", reported_by: runner, timeout: 20s }
`

async function stage() {
  const team = await openTeam()
  const { call } = team
  await call('token_create', { admin: true, person: 'Ada' })
  await call('start_mission', { name: 'M', objective: 'It works' })
  const token = async (name: string, kind = 'agent') =>
    (await call('token_create', { kind, name, person: 'Ada' })).secret as string
  const machine = await openProject()
  machine.write('.waymark/processes/checked.yaml', checked)
  machine.git('add', '-A')
  machine.git('commit', '-qm', 'A process')
  const from = (secret: string, key: string, connection?: string) =>
    callerAt(team, machine.context, { secret, key, ...(connection !== undefined && { connection }) })
  const started = () =>
    team.contexts[0]?.store.view(({ runs }) =>
      runs.commandResult({ run: 'npm test', folder: machine.folder }),
    )
  return { team, machine, token, from, command: started }
}

const [mine, other] = ['a'.repeat(64), 'b'.repeat(64)]

test("accepts a command's end and its lease only from the machine and the token that started it", async () => {
  const { token, from, command: latest, team } = await stage()
  const [runner, agent] = [await token('ci', 'runner'), await token('agent')]
  const started = from(runner, mine)
  const { run_id } = await started('state_gate_create_run', { process_id: 'checked' })
  const { items }: Answer = await team.call('inbox')
  expect(items).toEqual([])
  await started('verify', { run_id })
  const [question]: Answer = (await team.call('inbox')).items
  await team.call('approve', { id: question.item_id })
  await started('verify', { run_id })
  const command = await latest()
  const end = {
    id: command?.id,
    status: 'passed',
    exit_code: 0,
    output: '',
    tree: 'x',
    touched: [],
    hash: mine,
  }
  const forged = [from(agent, mine), from(agent, other), from(runner, other)]
  for (const ask of forged) {
    expect(await ask('command_end', end)).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect(await ask('command_renew', { id: end.id })).toMatchObject({ error: { code: 'NOT_FOUND' } })
  }
  expect(await latest()).toMatchObject({ id: end.id, status: 'running' })
  expect(await started('command_renew', { id: end.id })).toMatchObject({ until: expect.any(String) })
  expect(await started('command_end', end)).toEqual({ recorded: true })
})

test('accepts the completion of an attempt only from the token that began it', async () => {
  const { token, from } = await stage()
  const [ada, bob] = [await token('ada'), await token('bob')]
  const begun = await from(ada, mine)('start_task', { name: 'Sign in' })
  const ending = { task_id: begun.task_id, status: 'success', outcome: { summary: 'Done.' } }
  for (const key of [mine, other]) {
    expect(await from(bob, key)('complete_task', ending)).toMatchObject({
      error: { code: 'FORBIDDEN', reason: 'attempt_of_other_token' },
    })
  }
  expect(await from(ada, mine)('complete_task', ending)).toMatchObject({ task_id: begun.task_id })
})

test('accepts a claim and an open attempt only from the token that began it', async () => {
  const { team, token, from } = await stage()
  const [ada, bob] = [await token('ada'), await token('bob')]
  await team.call('taskman_phase_add', { id: 'p', name: 'P' })
  const { id } = await team.call('taskman_task_add', { title: 'Sign in', phase: 'p' })
  const connection = 'one-connection'
  const [hers, forged] = [from(ada, mine, connection), from(bob, mine, connection)]
  await hers('taskman_task_next', { claim: true })
  for (const [operation, input] of [
    ['taskman_task_edit', { id, status: 'done' }],
    ['taskman_task_edit', { id, status: 'to_do' }],
    ['taskman_task_edit', { id, status: 'in_progress' }],
    ['start_task', { name: 'Sign in', planned_task_id: id }],
  ] as const) {
    expect(await forged(operation, input)).toMatchObject({ error: { reason: 'claim_held_by_other' } })
  }
  const begin = { name: 'Sign in', planned_task_id: id }
  const { attempt_id } = await hers('start_task', begin)
  expect(await forged('start_task', begin)).toMatchObject({ error: { reason: 'attempt_of_other_agent' } })
  expect(await hers('start_task', begin)).toMatchObject({ attempt_id })
})

test('a machine tells nothing of the sessions of another one, whatever it calls them', async () => {
  const { token, from, team, machine } = await stage()
  const [ada, bob] = [await token('ada'), await token('bob')]
  const at = Date.now()
  const spoken = (number: number, what: object) => ({
    key: `${at + number}-one`,
    reportedAt: at + number,
    client: { name: 'claude-code' },
    session: 'the-session',
    folder: machine.folder,
    coverage: { edits: true, failures: true, subagents: true, ids: true },
    top: machine.folder,
    what,
  })
  const prompt = { kind: 'prompted', length: 3, text: null, wake: false }
  const started = { kind: 'session_started', source: 'startup', parent: null, transcript: null }
  const place = {
    engine: 'git',
    directory: '/snapshots/x',
    top: machine.folder,
    prefix: '',
    id: 'a'.repeat(40),
  }
  const states = [{ top: machine.folder, place, takenAt: at, error: '' }]
  const told = (hookEvents: readonly object[]) => ({ sentAt: at, hookEvents, states })
  await from(ada, mine)('ingest_remote_events', told([spoken(1, started), spoken(2, prompt)]))
  const [session]: Answer = (await team.call('sessions')).sessions
  expect(session).toMatchObject({ open_turns: 1 })

  const ended = { kind: 'session_ended', reason: null }
  await from(bob, other)('ingest_remote_events', told([spoken(3, ended)]))
  const { sessions }: Answer = await team.call('sessions')
  const after = sessions.find(({ session_id }: Answer) => session_id === session.session_id)
  expect(after).toMatchObject({ open_turns: 1, status: 'open' })
  // Nor does it use up the other one's keys.
  expect(await from(bob, other)('ingest_remote_events', told([spoken(4, prompt)]))).toMatchObject({
    recorded: 1,
  })
  expect(await from(ada, mine)('ingest_remote_events', told([spoken(4, ended)]))).toMatchObject({
    recorded: 1,
  })
})

test('an agent that runs takes over a new token of its folder once its own is refused', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const agent = await machine.connect()
  expect(await agent.call('start_task', { name: 'One' })).toMatchObject({ task_id: expect.any(String) })
  const next = server.newToken('ada-2')
  const connected = runProgram(['connect', server.address, '--new-token'], {
    folder: machine.folder,
    environment: { ...machine.environment, WAYMARK_TOKEN: next },
  })
  expect(connected).toMatchObject({ code: 0 })
  expect(server.run('token', 'revoke', 'ada').code).toBe(0)
  await expect.poll(() => machine.run('whoami').out).toContain('ada-2')
  expect(await agent.call('start_task', { name: 'Two' })).toMatchObject({ task_id: expect.any(String) })
  const { events } = await server.api('log', { limit: 50 })
  const started = events.filter(({ kind }: Answer) => kind === 'attempt.opened')
  expect(started).toMatchObject([{ actor: 'ada' }, { actor: 'ada-2' }])
})

test('a connected folder is not served with a record of its own', async () => {
  const machine = connectedMachine(await teamServer())
  const ran = machine.run('serve', '--port', '0')
  expect(ran.code).toBe(1)
  expect(ran.error).toMatch(/is connected to .* waymark open.*waymark disconnect/s)
})
