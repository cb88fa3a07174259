import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTeam } from '../people/team-server.ts'
import { soakTest } from '../support/amount.ts'
import { runProgram } from '../support/program.ts'
import type { Answer } from '../support/project.ts'
import { runBeside } from '../support/started-program.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { type AgentMachine, agentMachine, connectedMachine, teamServer } from './machines.ts'

const reviewed = `process: { dialect: 1, id: reviewed, version: "1.0.0", name: Reviewed, initial_state: work }
roles: [{ name: agent, kind: agent }, { name: reviewer, kind: human }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: reviewed }]
guards:
  reviewed: { type: approval, role: reviewer, artifact: changes }
`

const accepted = reviewed.replaceAll('finish', 'approve').replace('[agent] }]', '[reviewer] }]')

const submitting = accepted
  .replace('states: [', 'states: [{ name: check }, ')
  .replace('events: [', 'events: [{ name: submit, allowed_roles: [agent] }, ')
  .replace(
    'transitions: [{ from: work',
    'transitions: [{ from: work, event: submit, to: check }, { from: check',
  )

interface Begun {
  readonly task: string
  readonly run: string
  readonly agent: Awaited<ReturnType<AgentMachine['connect']>>
}

/** A task of an agent with a run that asks for an approval of its changes. */
async function begunTask(machine: AgentMachine, process: string): Promise<Begun> {
  machine.write('.waymark/processes/reviewed.yaml', process)
  const agent = await machine.connect()
  const { task_id: task } = await agent.call('start_task', { name: 'Sign in', areas: ['src/'] })
  const { run_id: run } = await agent.call('state_gate_create_run', {
    process_id: 'reviewed',
    task_id: task,
  })
  machine.write('src/auth.ts', 'export const auth = 2\n')
  return { task, run, agent }
}

const finish = (run: string, key: string) => ({
  run_id: run,
  event_name: 'finish',
  expected_revision: 1,
  idempotency_key: key,
})

const succeeded = { status: 'success', outcome: { summary: 'Changed' } }

test('changes on another machine are approved at the server once their task is completed, as they were recorded', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const { task, run, agent } = await begunTask(machine, accepted)
  writeFileSync(join(server.folder, 'auth.ts'), 'of the server\n')

  const { error }: Answer = await server.api('approve', { id: run })
  expect(error).toMatchObject({
    code: 'REFUSED',
    reason: 'run_on_other_machine',
    message: expect.stringContaining(task),
  })
  expect(error.hint).toContain(`waymark approve ${run}`)
  expect(JSON.stringify(await server.log())).not.toContain('run.approved')

  await agent.call('complete_task', { task_id: task, ...succeeded })
  const { content } = await server.api('show', { id: run })
  await agent.call('taskman_task_edit', { id: task, status: 'to_do' })
  await agent.call('start_task', { task_id: task })
  machine.write('src/auth.ts', 'export const auth = 3\n')
  await agent.call('complete_task', { task_id: task, ...succeeded })
  expect(await server.api('approve', { id: run, content })).toMatchObject({
    error: { code: 'CONFLICT', reason: 'content_changed' },
  })
  const { content: now } = await server.api('show', { id: run })
  expect(await server.api('approve', { id: run, content: now })).toMatchObject({
    approvals: [{ role: 'reviewer', artifact: 'changes' }],
    status: 'succeeded',
  })
})

test('an approval that an event of an agent needs is given on the machine with the files', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const { task, run, agent } = await begunTask(machine, reviewed)
  await agent.call('complete_task', { task_id: task, ...succeeded })
  const { error }: Answer = await server.api('approve', { id: run, role: 'reviewer' })
  expect(error).toMatchObject({ code: 'REFUSED', reason: 'run_on_other_machine' })
  machine.write('src/auth.ts', 'export const auth = 3\n')
  const approved = runProgram(['approve', run, '--role', 'reviewer'], {
    folder: machine.folder,
    environment: {
      ...machine.environment,
      WAYMARK_SERVER: server.address,
      WAYMARK_TOKEN: server.newToken('maria', 'person'),
    },
  })
  expect(approved).toMatchObject({ code: 0, error: '' })
  const rival = await connectedMachine(server, server.newToken('bob')).connect()
  expect(await rival.refused('state_gate_emit_event', finish(run, 'one'))).toMatchObject({
    code: 'GUARD_FAILED',
  })
  expect(await agent.call('state_gate_emit_event', finish(run, 'two'))).toMatchObject({
    result: { accepted: true },
  })
})

test('a mission whose tasks ran on two machines is approved at the server', async () => {
  const server = await teamServer()
  const work = async (name: string) => {
    const machine = connectedMachine(server, server.newToken(name))
    machine.write('.waymark/processes/reviewed.yaml', accepted)
    return { machine, agent: await machine.connect() }
  }
  const [ada, bob] = [await work('ada'), await work('bob')]
  const { mission_id } = await ada.agent.call('start_mission', { name: 'Sign in', objective: 'It works' })
  const { run_id: run } = await ada.agent.call('state_gate_create_run', {
    process_id: 'reviewed',
    mission_id,
  })
  for (const [index, { machine, agent }] of [ada, bob].entries()) {
    const { task_id } = await agent.call('start_task', {
      mission_id,
      name: `Part ${index}`,
      areas: ['src/'],
    })
    machine.write('src/auth.ts', `export const auth = ${index + 2}\n`)
    await agent.call('complete_task', { task_id, ...succeeded })
  }
  expect(await server.api('approve', { id: run, role: 'reviewer' })).toMatchObject({
    decided: true,
    status: 'succeeded',
  })
})

test('a refusal of the server keeps its reason and its fix on another machine', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const { code, out } = runProgram(['show', 't-nothere', '--json'], machine)
  expect(code).toBe(1)
  const { error } = JSON.parse(out)
  expect(error).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'mission_or_task_not_found',
    fix: { operation: 'list_missions', input: {} },
  })
})

const submitted = `process: { dialect: 1, id: handed-in, version: "1.0.0", name: Handed in, initial_state: work }
roles: [{ name: agent, kind: agent }, { name: reviewer, kind: human }]
states: [{ name: work }, { name: check }, { name: done, is_final: true }]
events:
  - { name: offer, allowed_roles: [agent] }
  - { name: finish, allowed_roles: [agent] }
transitions:
  - { from: work, event: offer, to: check }
  - { from: check, event: finish, to: done, guard: { all: [planned, reviewed] } }
artifacts: [{ type: plan, paths: [docs/plan.md] }]
guards:
  planned: { type: artifact, artifact_type: plan, condition: exists }
  reviewed: { type: approval, role: reviewer }
`

test('a run that nobody began is approved on any machine, and its files are looked at where they were handed in', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const other = connectedMachine(server, server.newToken('bob'))
  for (const one of [machine, other]) one.write('.waymark/processes/handed-in.yaml', submitted)
  const agent = await machine.connect()
  const { run_id: run } = await agent.call('state_gate_create_run', { process_id: 'handed-in' })
  machine.write('docs/plan.md', '# Plan\n')
  const send = (event: string, revision: number, key: string, more: object = {}) => ({
    run_id: run,
    event_name: event,
    expected_revision: revision,
    idempotency_key: key,
    ...more,
  })
  const offered = send('offer', 1, 'one', { artifact_paths: ['docs/plan.md'] })
  expect(await agent.call('state_gate_emit_event', offered)).toMatchObject({ result: { accepted: true } })

  // The server's own folder has no such file, and its tree is nobody's work here.
  const page = await server.api('show', { id: run })
  expect(page.artifacts).toMatchObject([{ path: 'docs/plan.md', status: 'current' }])
  writeFileSync(join(server.folder, 'mine.txt'), 'of the server\n')
  expect(await server.api('approve', { id: run, role: 'reviewer' })).toMatchObject({ decided: true })
  writeFileSync(join(server.folder, 'mine.txt'), 'changed since\n')

  const rival = await other.connect()
  const refused = await rival.refused('state_gate_emit_event', send('finish', 2, 'two'))
  expect(refused).toMatchObject({ code: 'REFUSED', reason: 'file_on_other_machine' })
  const straight = await server.api('state_gate_emit_event', send('finish', 2, 'three'))
  expect(straight.error).toMatchObject({
    code: 'REFUSED',
    hint: expect.stringContaining('submit docs/plan.md again'),
  })
  machine.write('docs/plan.md', '# Another plan\n')
  expect(await agent.refused('state_gate_emit_event', send('finish', 2, 'four'))).toMatchObject({
    code: 'GUARD_FAILED',
    reason: 'guards_unsatisfied',
  })
  machine.write('docs/plan.md', '# Plan\n')
  expect(await agent.call('state_gate_emit_event', send('finish', 2, 'five'))).toMatchObject({
    result: { accepted: true },
  })
})

test('files here that changed after their task are not approved as recorded because the last task was elsewhere', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  machine.write('.waymark/processes/reviewed.yaml', accepted)
  const agent = await machine.connect()
  const { mission_id } = await agent.call('start_mission', { name: 'Sign in', objective: 'It works' })
  const { run_id: run } = await agent.call('state_gate_create_run', { process_id: 'reviewed', mission_id })
  const atServer = (...words: readonly string[]) =>
    JSON.parse(
      runProgram([...words, '--json'], {
        folder: server.folder,
        environment: { ...serverEnvironment(server.home), HOME: server.home, AI_AGENT: 'cleo' },
      }).out,
    )
  const here = atServer('task', 'start', 'Here', '--mission-id', mission_id, '--areas', 'src/')
  mkdirSync(join(server.folder, 'src'), { recursive: true })
  writeFileSync(join(server.folder, 'src/here.ts'), 'export const here = 1\n')
  atServer('task', 'complete', here.task_id, '--status', 'success', '--outcome.summary', 'Changed')
  const { task_id } = await agent.call('start_task', { mission_id, name: 'There', areas: ['src/'] })
  machine.write('src/auth.ts', 'export const auth = 2\n')
  await agent.call('complete_task', { task_id, ...succeeded })

  writeFileSync(join(server.folder, 'src/here.ts'), 'export const here = "backdoor"\n')
  expect(await server.api('approve', { id: run, role: 'reviewer' })).toMatchObject({
    error: { code: 'CONFLICT', reason: 'work_not_measured' },
  })
  writeFileSync(join(server.folder, 'src/here.ts'), 'export const here = 1\n')
  expect(await server.api('approve', { id: run, role: 'reviewer' })).toMatchObject({
    status: 'succeeded',
  })
})

test.each([
  ['a submitted file', '[agreed]', 'done'],
  ['a submitted file and the state', '[planned, agreed, reviewed]', 'done'],
  ['a submitted file and the scope', '[agreed, scoped]', 'refused'],
])('at the server, an event with an approval of %s: %s', async (_, guards, end) => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  machine.write(
    '.waymark/processes/proposed.yaml',
    submitted
      .replace('id: handed-in', 'id: proposed')
      .replace('{ name: finish, allowed_roles: [agent] }', '{ name: accept, allowed_roles: [reviewer] }')
      .replace(
        'event: finish, to: done, guard: { all: [planned, reviewed] }',
        `event: accept, to: done, guard: { all: ${guards} }`,
      )
      .concat('  agreed: { type: approval, role: reviewer, artifact: plan }\n')
      .concat('  scoped: { type: changes, condition: in_scope }\n'),
  )
  const agent = await machine.connect()
  const { task_id: task } = await agent.call('start_task', { name: 'Plan it', areas: ['docs/'] })
  const { run_id: run } = await agent.call('state_gate_create_run', {
    process_id: 'proposed',
    task_id: task,
  })
  machine.write('docs/plan.md', '# Plan\n')
  await agent.call('complete_task', { task_id: task, ...succeeded })
  await agent.call('state_gate_emit_event', {
    run_id: run,
    event_name: 'offer',
    expected_revision: 1,
    idempotency_key: 'one',
    artifact_paths: ['docs/plan.md'],
  })
  expect(await server.api('approve', { id: run })).toMatchObject(
    end === 'done' ? { status: 'succeeded' } : { error: { reason: 'run_on_other_machine' } },
  )
})

test('an agent brings a run to people only when its files are as the tasks recorded them', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const { task, run, agent } = await begunTask(machine, submitting)
  await agent.call('complete_task', { task_id: task, ...succeeded })
  const submit = { ...finish(run, 'one'), event_name: 'submit' }
  machine.write('src/auth.ts', 'export const auth = 3\n')
  machine.write('src/api.ts', 'export const api = 2\n')
  const refused = await agent.refused('state_gate_emit_event', submit)
  expect(refused).toMatchObject({ code: 'REFUSED', reason: 'work_not_recorded' })
  expect(refused.message).toContain('src/auth.ts changed')
  machine.git('checkout', '-q', 'src/api.ts')
  machine.write('src/auth.ts', 'export const auth = 2\n')
  // What others committed is no work of the run.
  machine.git('clone', '-q', '.', '../other')
  machine.git('commit', '-qam', 'Sign in')
  writeFileSync(join(machine.home, 'other/README.md'), '# Our shop\n')
  machine.git(
    '-C',
    '../other',
    '-c',
    'user.name=Ann',
    '-c',
    'user.email=ann@example.org',
    'commit',
    '-qam',
    'Rename',
  )
  machine.git('pull', '-q', '--no-rebase', '--no-edit', '../other')
  await agent.call('state_gate_emit_event', submit)
  expect(await server.api('approve', { id: run })).toMatchObject({ status: 'succeeded' })
})

test('work that goes on after a run came to people is submitted again before they approve it elsewhere', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const { task, run, agent } = await begunTask(machine, submitting)
  await agent.call('state_gate_emit_event', { ...finish(run, 'one'), event_name: 'submit' })
  await agent.call('complete_task', { task_id: task, ...succeeded })
  expect(await server.api('approve', { id: run })).toMatchObject({
    error: { reason: 'run_on_other_machine', message: expect.stringContaining(task) },
  })
})

test('a task that was sent back in a review and done again is approved elsewhere', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const { task, run, agent } = await begunTask(machine, submitting)
  await agent.call('complete_task', { task_id: task, ...succeeded })
  await agent.call('state_gate_emit_event', { ...finish(run, 'one'), event_name: 'submit' })
  await server.api('taskman_task_edit', { id: task, status: 'to_do' })
  await agent.call('start_task', { task_id: task })
  machine.write('src/auth.ts', 'export const auth = 3\n')
  await agent.call('complete_task', { task_id: task, ...succeeded })
  expect(await server.api('approve', { id: run })).toMatchObject({ status: 'succeeded' })
})

test('what a task did in a linked work tree and merged is as it was recorded', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  machine.write('.waymark/processes/reviewed.yaml', submitting)
  const agent = await machine.connect()
  const { mission_id } = await agent.call('start_mission', { name: 'Sign in', objective: 'It works' })
  const { run_id: run } = await agent.call('state_gate_create_run', { process_id: 'reviewed', mission_id })
  const { task_id: first } = await agent.call('start_task', { mission_id, name: 'One', areas: ['src/'] })
  machine.write('src/auth.ts', 'export const auth = 2\n')
  await agent.call('complete_task', { task_id: first, ...succeeded })
  machine.git('commit', '-qam', 'One')
  const { tasks } = await agent.call('plan_tasks', {
    mission_id,
    phases: [{ name: 'Build' }],
    tasks: [{ key: 'two', title: 'Two', phase: 'Build' }],
  })
  const tree = JSON.parse(machine.run('worktree', 'add', tasks[0].id, '--json').out)
  const { task_id: second } = await agent.call('start_task', { planned_task_id: tasks[0].id })
  writeFileSync(join(tree.path, 'src/auth.ts'), 'export const auth = 3\n')
  machine.git('-C', tree.path, 'commit', '-qam', 'Two')
  await agent.call('complete_task', { task_id: second, ...succeeded })
  machine.git('merge', '-q', tree.branch)
  const submit = { ...finish(run, 'one'), event_name: 'submit' }
  await agent.call('state_gate_emit_event', submit)
  expect(await server.api('approve', { id: run })).toMatchObject({ status: 'succeeded' })
})

soakTest('an approval given where the files are counts for one given elsewhere after it', async () => {
  const team = await openTeam()
  const secretOf = async (name: string, kind: 'agent' | 'person') =>
    (await team.call('token_create', { kind, person: name, ...(kind === 'agent' && { name: 'builder' }) }))
      .secret
  await team.call('token_create', { admin: true, person: 'Ada' })
  for (const name of ['Maria', 'Nils']) {
    await team.call('person_add', { name })
    await team.call('member_add', { person: name, access: 'maintainer', roles: ['reviewer'] })
  }
  const of = (machine: AgentMachine, token: string): AgentMachine['environment'] => ({
    ...machine.environment,
    WAYMARK_SERVER: team.address,
    WAYMARK_TOKEN: token,
  })
  const [machine, other] = [agentMachine(), agentMachine()]
  Object.assign(machine.environment, of(machine, await secretOf('Ada', 'agent')))
  const twice = accepted.replace('artifact: changes', 'artifact: changes, count: 2')
  const { task, run, agent } = await begunTask(machine, twice)
  await agent.call('complete_task', { task_id: task, ...succeeded })
  const approve = async (name: string, where: AgentMachine) => {
    const environment = of(where, await secretOf(name, 'person'))
    const { out } = await runBeside(['approve', run, '--json'], { folder: where.folder, environment })
    return JSON.parse(out)
  }
  expect(await approve('Maria', machine)).toMatchObject({ decided: false })
  expect(await approve('Nils', other)).toMatchObject({ decided: true, status: 'succeeded' })
})

soakTest(
  'an approval that a person’s event gave counts for an event of an agent with the files',
  async () => {
    const server = await teamServer()
    const machine = connectedMachine(server, server.newToken('ada'))
    const both = reviewed
      .replace('events: [', 'events: [{ name: approve, allowed_roles: [reviewer] }, ')
      .replace(
        'transitions: [',
        'transitions: [{ from: work, event: approve, to: done, guard: { all: [reviewed, set] } }, ',
      )
    const { task, run, agent } = await begunTask(
      machine,
      `${both}  set: { type: context, variable: x, condition: exists }\n`,
    )
    await agent.call('complete_task', { task_id: task, ...succeeded })
    const environment = {
      ...machine.environment,
      WAYMARK_SERVER: server.address,
      WAYMARK_TOKEN: server.newToken('maria', 'person'),
    }
    const approved = runProgram(['approve', run, '--json'], { folder: machine.folder, environment })
    expect(JSON.parse(approved.out)).toMatchObject({ event: 'approve', decided: false })
    expect(await agent.call('state_gate_emit_event', finish(run, 'one'))).toMatchObject({
      result: { accepted: true },
    })
  },
)
