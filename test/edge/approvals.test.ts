import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/program.ts'
import type { Answer } from '../support/project.ts'
import { connectedMachine, teamServer } from './edges.ts'

const reviewed = `process: { dialect: 1, id: reviewed, version: "1.0.0", name: Reviewed, initial_state: work }
roles: [{ name: agent, kind: agent }, { name: reviewer, kind: human }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: reviewed }]
guards:
  reviewed: { type: approval, role: reviewer, of: changes }
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
  await agent.refusal('state_gate_emit_event', finish('one'))

  const { error }: Answer = await server.api('approve', { id: run, role: 'reviewer' })
  expect(error).toMatchObject({ code: 'REFUSED', message: expect.stringContaining(`in ${machine.folder}`) })
  expect(error.hint).toContain(`waymark approve ${run}`)
  expect(JSON.stringify(await server.journal())).not.toContain('run.approved')

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
