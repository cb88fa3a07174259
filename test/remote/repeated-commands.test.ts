import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { CommandReport, RequestedCommand } from '../../src/gate/ports/command-runner.ts'
import { RemoteCommands } from '../../src/remote/machine/remote-commands.ts'
import { TrustedCommands } from '../../src/remote/machine/trusted-commands.ts'
import { openTeam } from '../people/team-server.ts'
import { openProject } from '../support/project.ts'
import { callerAt } from './machine-call.ts'

const checked = `process: { dialect: 1, id: checked, version: "1.0.0", name: Checked, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: tests }]
guards:
  tests: { type: command, run: "npm test", timeout: 20s }
`

test('names a command to a machine only while the record says that it runs', async () => {
  const team = await openTeam()
  const machine = await openProject()
  machine.write('.waymark/processes/checked.yaml', checked)
  machine.git('add', '-A')
  machine.git('commit', '-qm', 'A process')
  await team.call('token_create', { admin: true, person: 'Ada' })
  await team.call('start_mission', { name: 'M', objective: 'It works' })
  const { secret } = await team.call('token_create', { kind: 'agent', name: 'builder', person: 'Ada' })
  const key = 'a'.repeat(64)
  const named: string[] = []
  const failed = async ({ id, hash, folder }: RequestedCommand): Promise<CommandReport> => {
    named.push(id)
    const tree = await machine.context.witness.treeHash(folder)
    return { status: 'failed', exitCode: 1, output: 'red', tree, touched: [], hash }
  }
  const calling = callerAt(team, machine.context, { secret, key, call: randomUUID(), runCommand: failed })
  const { run_id } = await callerAt(team, machine.context, { secret, key })('state_gate_create_run', {
    process_id: 'checked',
  })
  const finish = { run_id, event_name: 'finish', expected_revision: 1, idempotency_key: 'one' }
  await calling('state_gate_emit_event', finish)
  const [question] = (await team.call('inbox')).items
  await team.call('approve', { id: question.item_id })

  for (let time = 0; time < 3; time += 1) {
    expect(await calling('state_gate_emit_event', finish)).toMatchObject({ error: { code: 'GUARD_FAILED' } })
    expect(named).toHaveLength(1)
  }
  const commands = await team.contexts[0]?.store.view(({ runs }) => runs.commandsOf(run_id, 10))
  expect(commands).toMatchObject([{ id: named[0], status: 'failed', treeHeld: true }])
})

async function commandsOnMachine(limits: { readonly maxReports: number; readonly maxStarted?: number }) {
  const { context } = await openProject()
  let starts = 0
  const commands = new TrustedCommands({
    approvals: context.commandApprovals,
    runner: {
      start: async () => {
        starts += 1
        return { status: 'passed', exitCode: 0, output: `start ${starts}` }
      },
    },
    actor: context.actor,
    askPerson: null,
    trustsServer: () => true,
    now: () => 0,
  })
  const onMachine = new RemoteCommands({
    context,
    commands,
    patience: 1_000,
    report: async () => undefined,
    ...limits,
  })
  const asked = { run: 'npm test', folder: context.folder, pinned: [] }
  const hash = await context.commandApprovals.hashOf(asked)
  const wanted = { ...asked, timeout: 1_000, hash }
  const run = (id: string, approvedThere = true) =>
    onMachine.run({ ...wanted, id, approvedThere }, { isWaitedFor: true })
  return { run, starts: () => starts }
}

test('starts a command once on a machine, however late its call is sent again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { run, starts } = await commandsOnMachine({ maxReports: 3 })

  // What was refused was not started: it may run when it is approved.
  await expect(run('cmd-1', false)).rejects.toMatchObject({ reason: 'command_not_approved' })
  expect(await run('cmd-1')).toMatchObject({ output: 'start 1' })
  vi.advanceTimersByTime(3_600_000)
  expect(await run('cmd-1')).toMatchObject({ output: 'start 1' })

  // Reports are forgotten at some time; that a command ran is not.
  for (let other = 2; other <= 4; other += 1) await run(`cmd-${other}`)
  await expect(run('cmd-1')).rejects.toMatchObject({ code: 'CONFLICT', reason: 'command_ran_before' })
  expect(starts()).toBe(4)
})

test('starts no command that is older than one it has forgotten', async () => {
  const { run, starts } = await commandsOnMachine({ maxReports: 3, maxStarted: 2 })
  const ids = Array.from({ length: 10 }, (_, at) => `cmd-${String(at).padStart(3, '0')}`)
  for (const id of ids) await run(id)
  for (const id of ['cmd-000', 'cmd-005']) {
    await expect(run(id)).rejects.toMatchObject({ code: 'CONFLICT', reason: 'command_ran_before' })
  }
  expect(await run('cmd-200')).toMatchObject({ status: 'passed' })
  expect(starts()).toBe(11)
})
