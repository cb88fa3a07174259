import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git } from '../support/git.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type AgentMachine, connectedMachine, teamServer } from './machines.ts'

const merged = `process: { dialect: 1, id: merged, version: "1.0.0", name: Merged, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: landed }]
guards:
  landed: { type: landed, hint: Merge it. }
`

/** A bare repository, and two machines with its default branch. Neither has origin/HEAD. */
function withRemote(machines: readonly AgentMachine[]): void {
  const remote = temporaryFolder()
  git(remote, 'init', '-q', '--bare', '-b', 'main')
  for (const [at, machine] of machines.entries()) {
    machine.git('branch', '-M', 'main')
    machine.git('remote', 'add', 'origin', remote)
    if (at === 0) machine.git('push', '-q', '-u', 'origin', 'main')
    machine.git('fetch', '-q', 'origin')
    machine.git('reset', '-q', '--hard', 'origin/main')
    machine.git('remote', 'set-head', 'origin', '--delete')
  }
}

/** Two machines with one remote, whose mission is gated by the guard `landed`. */
async function gatedPair() {
  const server = await teamServer()
  const [first, second] = ['ada', 'ben'].map((name) => connectedMachine(server, server.newToken(name))) as [
    AgentMachine,
    AgentMachine,
  ]
  withRemote([first, second])
  first.write('.waymark/processes/merged.yaml', merged)
  const [ada, ben] = [await first.connect(), await second.connect()]
  const { mission_id } = await ada.call('start_mission', { name: 'Shop', objective: 'Sell' })
  const { run_id } = await ada.call('state_gate_create_run', { process_id: 'merged', mission_id })
  return { server, first, second, ada, ben, mission_id, run_id }
}

test('tasks of another machine are named with it until they are measured there', async () => {
  const { first, second, ada, ben, mission_id, run_id } = await gatedPair()
  const work = async (agent: typeof ada, machine: AgentMachine, name: string) => {
    const { task_id } = await agent.call('start_task', { name, goal: 'g', mission_id })
    machine.write(join('src', `${name}.ts`), `export const ${name} = 1\n`)
    await agent.call('complete_task', { task_id, status: 'success', outcome: { summary: `Added ${name}.` } })
    machine.git('add', 'src')
    machine.git('commit', '-q', '-m', name)
    return task_id as string
  }
  const landed = (machine: AgentMachine) => JSON.parse(machine.run('landed', '--json').out)
  const finish = { run_id, event_name: 'finish', expected_revision: 1 }

  const tax = await work(ada, first, 'tax')
  first.git('push', '-q', 'origin', 'HEAD:tax')
  const discount = await work(ben, second, 'discount')
  second.git('push', '-q', 'origin', 'main')

  // The event measures what was done here.
  const refused = JSON.stringify(
    await ben.refused('state_gate_emit_event', { ...finish, idempotency_key: 'a' }),
  )
  expect(refused).toContain(`tax\\" (on ${hostname()})`)
  expect(refused).not.toContain('discount')
  expect(landed(second)).toMatchObject({
    branch: 'origin/main',
    counts: { landed: 1, unknown: 1 },
    tasks: [{ task_id: tax, is: 'unknown', machine: hostname() }],
  })

  expect(second.run('landed').out).toContain('git fetch')

  // A branch that only this machine takes for the default one has landed nothing.
  landed(first)
  second.git('fetch', '-q', 'origin')
  second.git('update-ref', 'refs/remotes/origin/mine', 'origin/tax')
  second.git('config', 'init.defaultBranch', 'mine')
  const ofTax = landed(second).tasks.find(({ task_id: id }: { readonly task_id: string }) => id === tax)
  expect(ofTax).toMatchObject({ is: 'pushed', branch: 'origin/main' })
  second.git('config', '--unset', 'init.defaultBranch')
  second.git('update-ref', '-d', 'refs/remotes/origin/mine')

  // A machine that has the merge finds it, also if nobody measures on the other one again.
  second.git('fetch', '-q', 'origin')
  second.git('merge', '-q', '--no-edit', 'origin/tax')
  second.git('push', '-q', 'origin', 'main')
  expect(await ben.call('state_gate_emit_event', { ...finish, idempotency_key: 'b' })).toMatchObject({
    result: { status: 'succeeded' },
  })

  // Its own main is behind: origin/main has the merge, as on the other machine.
  first.git('fetch', '-q', 'origin')
  expect(landed(first)).toMatchObject({
    branch: 'origin/main',
    counts: { landed: 2 },
    tasks: [
      { task_id: tax, is: 'landed' },
      { task_id: discount, is: 'landed', machine: hostname() },
    ],
    tasks_total: 2,
  })
})

test('an attempt on another machine does not hide lines that did not land', async () => {
  const { server, first, second, ada, ben, mission_id, run_id } = await gatedPair()
  const { task_id } = await ada.call('start_task', { name: 'Tax', goal: 'g', mission_id })
  first.write('src/tax.ts', 'export const tax = 1\nexport const rate = 19\n')
  const summary = 'Added src/tax.ts.'
  await ada.call('complete_task', { task_id, status: 'success', outcome: { summary } })
  await server.api('taskman_task_edit', { task_id, status: 'to_do' })
  await ben.call('start_task', { planned_task_id: task_id, name: 'Tax', mission_id })
  const nothing = { summary: 'It was there.', no_change_reason: 'It was there.' }
  await ben.call('complete_task', { task_id, status: 'success', outcome: nothing })

  const finish = { run_id, event_name: 'finish', expected_revision: 1 }
  for (const agent of [ben, ada])
    expect(
      JSON.stringify(await agent.refused('state_gate_emit_event', { ...finish, idempotency_key: 'a' })),
    ).toMatch(/not measured|not committed/)

  first.git('add', 'src')
  first.git('commit', '-q', '-m', 'Tax')
  first.git('push', '-q', 'origin', 'main')
  second.git('fetch', '-q', 'origin')
  expect(await ben.call('state_gate_emit_event', { ...finish, idempotency_key: 'b' })).toMatchObject({
    result: { status: 'succeeded' },
  })
})

test('a task whose commits are lost with its machine is dropped and done in a new one', async () => {
  const { server, first, second, ada, ben, mission_id, run_id } = await gatedPair()
  const work = async (agent: typeof ada, machine: AgentMachine) => {
    const { task_id } = await agent.call('start_task', { name: 'Tax', goal: 'g', mission_id })
    machine.write('src/tax.ts', `export const rate = ${machine === first ? 19 : 7}\n`)
    const outcome = { summary: 'Added src/tax.ts.' }
    await agent.call('complete_task', { task_id, status: 'success', outcome })
    return task_id as string
  }
  const lost = await work(ada, first)
  await server.api('taskman_task_edit', { id: lost, status: 'to_do' })
  await server.api('task_drop', { id: lost, reason: 'Its machine is gone.' })
  await work(ben, second)
  second.git('add', 'src')
  second.git('commit', '-q', '-m', 'Tax')
  second.git('push', '-q', 'origin', 'main')
  const finish = { run_id, event_name: 'finish', expected_revision: 1, idempotency_key: 'a' }
  expect(await ben.call('state_gate_emit_event', finish)).toMatchObject({ result: { status: 'succeeded' } })
})
