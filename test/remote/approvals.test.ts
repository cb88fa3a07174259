import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/program.ts'
import type { Answer } from '../support/project.ts'
import { connectedMachine, teamServer } from './machines.ts'

const reviewed = `process: { dialect: 1, id: reviewed, version: "1.0.0", name: Reviewed, initial_state: work }
roles: [{ name: agent, kind: agent }, { name: reviewer, kind: human }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: reviewed }]
guards:
  reviewed: { type: approval, role: reviewer, artifact: changes }
`

test('changes on another machine are approved there: the server does not take its own folder for them', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  machine.write('.waymark/processes/reviewed.yaml', reviewed)
  const agent = await machine.connect()
  const { task_id: task } = await agent.call('start_task', { name: 'Sign in', areas: ['src/'] })
  const { run_id: run } = await agent.call('state_gate_create_run', {
    process_id: 'reviewed',
    task_id: task,
  })
  machine.write('src/auth.ts', 'export const auth = 2\n')
  writeFileSync(join(server.folder, 'auth.ts'), 'of the server\n')
  const outcome = { summary: 'Changed' }
  await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  const finish = (key: string) => ({
    run_id: run,
    event_name: 'finish',
    expected_revision: 1,
    idempotency_key: key,
  })
  await agent.refused('state_gate_emit_event', finish('one'))

  const { error }: Answer = await server.api('approve', { id: run, role: 'reviewer' })
  expect(error).toMatchObject({
    code: 'REFUSED',
    reason: 'run_on_other_machine',
    message: expect.stringContaining(`in ${machine.folder}`),
  })
  expect(error.hint).toContain(`waymark approve ${run}`)
  expect(JSON.stringify(await server.log())).not.toContain('run.approved')

  const approved = runProgram(['approve', run, '--role', 'reviewer'], {
    folder: machine.folder,
    environment: {
      ...machine.environment,
      WAYMARK_SERVER: server.address,
      WAYMARK_TOKEN: server.newToken('maria', 'person'),
    },
  })
  expect(approved).toMatchObject({ code: 0, error: '' })
  expect(await agent.call('state_gate_emit_event', finish('two'))).toMatchObject({
    result: { accepted: true },
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
