import { expect, test } from 'vitest'
import type { Answer } from '../support/project.ts'
import { agentMachine, ranAt, teamServer } from './machines.ts'
import { proxyBefore } from './proxy.ts'

const plain = `process: { dialect: 1, id: plain, version: "1.0.0", name: Plain, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done }]
`

test('a call whose answer was cut off gives the same result again, and is recorded once', async () => {
  const server = await teamServer()
  const proxy = await proxyBefore(server.port)
  const machine = agentMachine()
  await ranAt(machine, ['connect', `${proxy.address}/p/shop`], { WAYMARK_TOKEN: server.newToken('ada') })
  machine.write('.waymark/processes/plain.yaml', plain)
  const agent = await machine.connect()
  const { mission_id } = await agent.call('start_mission', { name: 'M', objective: 'It works' })

  /** The answer of the server is cut off, not one that asks the machine to measure. */
  const lose = (times: number) => proxy.lose('/p/shop/api/machines/call', times, '"result"')
  /** Cut once: the machine sends it again. */
  const sentAgain = async (tool: string, input: object): Promise<Answer> => {
    const before = proxy.lost()
    lose(1)
    const answer = await agent.call(tool, input)
    expect(proxy.lost()).toBe(before + 1)
    return answer
  }
  const recorded = async (kind: string) => (await server.log()).filter(({ body }) => body.kind === kind)

  const first = await sentAgain('start_task', { mission_id, name: 'Once' })
  // Cut so often that the agent is told so, and calls again.
  const start = { mission_id, name: 'Twice', areas: ['src/auth.ts'] }
  lose(5)
  expect(await agent.refused('start_task', start)).toMatchObject({
    code: 'UNAVAILABLE',
    reason: 'server_silent',
  })
  expect(proxy.lost()).toBe(1 + 5)
  const { task_id, attempt_id } = await agent.call('start_task', start)
  const opened = await recorded('attempt.opened')
  expect(opened.map(({ body }) => body.attempt.id)).toEqual([first['attempt_id'], attempt_id])

  machine.write('src/auth.ts', 'export const auth = 2\n')
  const outcome = { summary: 'Done.' }
  const done = await sentAgain('complete_task', { task_id, status: 'success', outcome })
  expect(done).toMatchObject({ task_id, files_changed: { modified: ['src/auth.ts'] } })
  expect(await recorded('attempt.closed')).toHaveLength(1)

  const { run_id } = await agent.call('state_gate_create_run', { process_id: 'plain' })
  const finish = { run_id, event_name: 'finish', expected_revision: 1, idempotency_key: 'one' }
  const accepted = await sentAgain('state_gate_emit_event', finish)
  expect(accepted).toMatchObject({ result: { accepted: true } })
  expect(await agent.call('state_gate_emit_event', finish)).toEqual(accepted)
  const state = await agent.call('state_gate_get_state', { run_id })
  expect(state).toMatchObject({ current_state: 'done', revision: 2 })
})
