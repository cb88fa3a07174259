import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandApprovals } from '../../src/gate/commands/command-approvals.ts'
import { stateFolder } from '../../src/kernel/files/state-folder.ts'
import type { Answer } from '../support/project.ts'
import { type AgentMachine, agentMachine, connectedMachine, ranAt, teamServer } from './machines.ts'

const checked = `process: { dialect: 1, id: checked, version: "1.0.0", name: Checked, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: tests }]
guards:
  tests: { type: command, run: "echo measured > ../ran && cat src/auth.ts", timeout: 20s }
`

test('a command runs on the machine with the files, once a person there approved it or lets the server say so', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  machine.write('.waymark/processes/checked.yaml', checked)
  const agent = await machine.connect()
  const { run_id: run } = await agent.call('state_gate_create_run', { process_id: 'checked' })
  const finish = (key: string) =>
    agent.refused('state_gate_emit_event', {
      run_id: run,
      event_name: 'finish',
      expected_revision: 1,
      idempotency_key: key,
    })
  await finish('one')
  const { items } = await server.api('inbox')
  const [item] = items.filter(({ kind }: Answer) => kind === 'command')
  expect(item.request.folder).toBe(machine.folder)
  expect(item.reason).toContain(hostname())
  expect(item.cannot_approve).toContain(`waymark approve ${item.item_id}`)
  expect(await server.api('approve', { id: item.item_id })).toMatchObject({
    error: { code: 'REFUSED', reason: 'command_of_other_machine' },
  })
  expect(await server.api('status')).toMatchObject({ waiting: 0, waiting_for_others: 1 })
  expect(JSON.parse(machine.run('status', '--json').out)).toMatchObject({ waiting: 1, waiting_for_others: 0 })
  const maintainer = { WAYMARK_SERVER: server.address, WAYMARK_TOKEN: server.newToken('maria', 'person') }
  Object.assign(machine.environment, maintainer)
  expect(machine.run('inbox').out).toMatch(
    /waymark approve h-\S+ --content \S+ +Let it run.* \(in a terminal\)/,
  )
  for (const name of Object.keys(maintainer)) delete machine.environment[name]
  await finish('two')
  expect(existsSync(join(machine.home, 'ran'))).toBe(false)

  // The server reads it at once, also from a hook, and an agent that runs takes it over.
  expect(machine.run('connect', server.address, '--trust-commands').code).toBe(0)
  const hook = { session_id: 's-1', cwd: machine.folder, hook_event_name: 'SessionStart', source: 'startup' }
  await ranAt(machine, ['hook', 'session-start', 'claude'], {}, JSON.stringify(hook))
  await expect.poll(() => server.api('approve', { id: item.item_id })).toMatchObject({ decided: true })
  const { result } = await agent.call('state_gate_emit_event', {
    run_id: run,
    event_name: 'finish',
    expected_revision: 1,
    idempotency_key: 'three',
  })
  expect(result).toMatchObject({ accepted: true })
  expect(existsSync(join(machine.home, 'ran'))).toBe(true)

  // It is in no list of a machine, and is found and taken back all the same.
  const [approved] = JSON.parse(machine.run('command', 'list', '--json').out).approved_elsewhere
  expect((await server.api('command_list')).approved_elsewhere).toEqual([approved])
  expect(machine.run('command', 'list').out).toContain(`${approved.hash.slice(0, 12)}  ${approved.run}`)
  const revoking = { hash: approved.hash.slice(0, 8), reason: 'Not needed.' }
  expect(await server.api('command_revoke', revoking)).toMatchObject({ approved_by: approved.author })
  expect((await server.api('command_list')).approved_elsewhere).toEqual([])
  const { run_id: next } = await agent.call('state_gate_create_run', { process_id: 'checked' })
  const again = { run_id: next, event_name: 'finish', expected_revision: 1, idempotency_key: 'four' }
  expect(await agent.refused('state_gate_emit_event', again)).toMatchObject({ code: 'GUARD_FAILED' })
})

const skippable = checked
  .replace('events: [', 'events: [{ name: skip, allowed_roles: [agent] }, ')
  .replace('transitions: [', 'transitions: [{ from: work, event: skip, to: done }, ')

test('a question that ended without an answer lets no command run', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  expect(machine.run('connect', server.address, '--trust-commands').code).toBe(0)
  machine.write('.waymark/processes/checked.yaml', skippable)
  const agent = await machine.connect()
  const send = (run: string, event: string, key: string) => ({
    run_id: run,
    event_name: event,
    expected_revision: 1,
    idempotency_key: key,
  })
  const { run_id: one } = await agent.call('state_gate_create_run', { process_id: 'checked' })
  await agent.refused('state_gate_emit_event', send(one, 'finish', 'one'))
  // The run ends, and with it the question about its command.
  await agent.call('state_gate_emit_event', send(one, 'skip', 'two'))
  expect((await server.api('inbox')).items).toEqual([])
  const { run_id: two } = await agent.call('state_gate_create_run', { process_id: 'checked' })
  expect(await agent.refused('state_gate_emit_event', send(two, 'finish', 'three'))).toMatchObject({
    code: 'GUARD_FAILED',
    reason: 'guards_unsatisfied',
  })
  expect(existsSync(join(machine.home, 'ran'))).toBe(false)
})

test('a machine that trusts its server is asked about a changed script with the difference', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  expect(machine.run('connect', server.address, '--trust-commands').code).toBe(0)
  machine.write(
    '.waymark/processes/checked.yaml',
    checked.replace(/run: ".*"/, 'run: "npm test", pinned: [check.js]'),
  )
  const agent = await machine.connect()
  const { run_id } = await agent.call('state_gate_create_run', { process_id: 'checked' })
  const asked = async (script: string) => {
    machine.write('package.json', JSON.stringify({ scripts: { test: script } }))
    machine.write('check.js', `// own content of ${script}\n`)
    const finish = { run_id, event_name: 'finish', expected_revision: 1, idempotency_key: script }
    await agent.refused('state_gate_emit_event', finish)
    const { items } = await server.api('inbox')
    return items.find(({ kind }: Answer) => kind === 'command')
  }
  const first = await asked('node one.js')
  expect(first.request.before).toBeNull()
  expect(await server.api('approve', { id: first.item_id })).toMatchObject({ decided: true })
  const second = await asked('node two.js')
  expect(second.reason).toMatch(/check\.js, package\.json#test changed since .+ approved it/)
  expect(second.request.before.diff).toContain('-node one.js\n+node two.js\n')
  // The content of pinned files stays on the machine.
  expect(second.request.before.diff).not.toContain('own content')
})

test('checks of a task run where its files are, and elsewhere it is said where that is', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server)
  const agent = await machine.connect()
  const { task_id } = await agent.call('start_task', {
    name: 'Limit',
    goal: 'g',
    done_when: { check: ['test -f src/limit.ts'] },
  })
  machine.write('src/limit.ts', 'export const limit = 5\n')
  const outcome = { summary: 'Added src/limit.ts.' }
  await agent.call('complete_task', { task_id, status: 'success', outcome })
  expect(await server.api('verify', { run_id: task_id })).toMatchObject({
    passed: false,
    note: `The files of the task are on ${hostname()}, in ${machine.folder}: run this there.`,
  })
  expect(machine.run('connect', server.address, '--trust-commands').code).toBe(0)
  const { items } = await server.api('inbox')
  const [item] = items.filter(({ kind }: Answer) => kind === 'command')
  const answer = expect.poll(() => server.api('approve', { id: item.item_id }))
  await answer.toMatchObject({
    notes: [`To check the finished task ${task_id}, on ${hostname()}: waymark verify ${task_id}`],
  })
})

test('machines with the same folder ask each their own person, and none runs what was revoked', async () => {
  const server = await teamServer()
  const one = connectedMachine(server)
  const other = connectedMachine(server, undefined, agentMachine({ folder: one.folder }))
  const questions = async () =>
    (await server.api('inbox')).items.filter(({ kind }: Answer) => kind === 'command')
  const work = async (machine: AgentMachine, name: string) => {
    const agent = await machine.connect()
    const done_when = { check: ['echo ran >> ../ran'] }
    const { task_id } = await agent.call('start_task', { name, goal: 'g', done_when })
    const outcome = { summary: 'Looked at it.', no_change_reason: 'Nothing to do.' }
    return () => agent.call('complete_task', { task_id, status: 'success', outcome, preview: true })
  }
  const [complete, completeOther] = [await work(one, 'One'), await work(other, 'Other')]
  const asked = await questions()
  const { hash } = asked[0].request
  expect(asked.map(({ request }: Answer) => request.hash)).toEqual([hash, hash])
  expect(new Set(asked.map(({ request }: Answer) => request.machine)).size).toBe(2)

  // A rejection counts everywhere, and so does its end.
  const { notes } = await server.api('reject', { id: asked[1].item_id, reason: 'Why?' })
  expect(notes).toContain(`Answered with it: command ${asked[0].item_id}.`)
  expect(await questions()).toEqual([])
  const approved = { hash, run: asked[0].request.run, folder: one.folder, author: 'Ann', createdAt: 1 }
  const state = stateFolder({ platform: process.platform, ...one })
  await commandApprovals(state).approve(approved)
  await server.api('command_revoke', { hash })
  expect(JSON.parse(one.run('command', 'list', '--json').out)).toMatchObject({ commands: [], refused: [] })
  expect(await complete()).toMatchObject({
    verdict: { reasons: [{ rule: 'no_change' }, { rule: 'check_not_approved' }] },
  })
  const own = { request: { hash, machine: asked[0].request.machine } }
  expect(await questions()).toMatchObject([own])

  // An approval is for the machine that asked, even where all trust the server: what a machine shows may be false.
  for (const machine of [one, other]) machine.run('connect', server.address, '--trust-commands')
  await completeOther()
  const [, ofOther] = await questions()
  await expect.poll(() => server.api('approve', { id: ofOther.item_id })).toMatchObject({ decided: true })
  expect(await questions()).toMatchObject([own])
  expect(await complete()).toMatchObject({
    verdict: { reasons: [{ rule: 'no_change' }, { rule: 'check_not_approved' }] },
  })
  expect(existsSync(join(one.home, 'ran'))).toBe(false)
  await completeOther()
  expect(existsSync(join(one.home, 'ran'))).toBe(true)
})
