import { expect, test } from 'vitest'
import { type Answer, openProject, person } from '../support/project.ts'

const slow = `process: { dialect: 1, id: slow, version: "1.0.0", name: Slow, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: tests }]
guards:
  tests: { type: command, run: "sleep 20", timeout: 60s }
`

test('case 39: a command whose edge says no more of it counts as running for a minute, and may be begun again then', async () => {
  const project = await openProject({ isOnMachine: true, machinePatience: 50 })
  project.write('.waymark/processes/slow.yaml', slow)
  project.git('add', '-A')
  project.git('commit', '-qm', 'A process')
  const { run_id: run } = await project.call('state_gate_create_run', { process_id: 'slow' })
  await project.call('verify', { run_id: run })
  const { items }: Answer = await project.call('inbox', {}, { actor: person })
  await project.call('approve', { id: items[0].item_id }, { actor: person })
  const last = () =>
    project.context.store.view(({ runs }) => runs.commandResult({ run: 'sleep 20', folder: project.folder }))
  const standing = async () => {
    const command = await last()
    const state: Answer = await project.call('state_gate_get_state', { run_id: run })
    return { command, text: JSON.stringify(state) }
  }
  await project.call('verify', { run_id: run })
  const begun = await standing()
  expect(begun.command).toMatchObject({ status: 'running', runner: 'machine:e-0123456789ab' })
  expect(begun.text).toContain('is running')
  // Two stretches that are together longer than a minute, and leave time for what the calls take.
  project.wait(31_000)
  await project.call('command_renew', { id: begun.command?.id })
  project.wait(31_000)
  expect((await standing()).text).toContain('is running')
  project.wait(30_000)
  expect((await standing()).text).not.toContain('is running')
  await project.call('verify', { run_id: run })
  const again = await last()
  expect(again).toMatchObject({ status: 'running', id: expect.not.stringMatching(`${begun.command?.id}`) })

  const ended = {
    id: again?.id,
    status: 'passed',
    exit_code: 0,
    output: 'fine',
    tree: 'x',
    touched: [],
    hash: 'a'.repeat(64),
  }
  expect(await project.call('command_end', ended)).toEqual({ recorded: true })
  expect(await project.refused('command_end', { ...ended, id: 'cmd-unknown' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'command_not_found',
  })
})
