import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventually } from '../mcp-http/eventually.ts'
import type { Answer } from '../support/project.ts'
import {
  connectedMachine,
  type EdgeMachine,
  edgeMachine,
  ranAt,
  type TeamServer,
  teamServer,
} from './edges.ts'
import { proxyBefore } from './proxy.ts'

const kinds = (facts: readonly Answer[]) => facts.map(({ happening }) => happening.kind)

async function away(server: TeamServer): Promise<void> {
  server.child.kill('SIGKILL')
  await server.ended
}

/** What waits on a machine, as its own command line says. */
function queued(machine: EdgeMachine): number {
  return JSON.parse(machine.run('status', '--format', 'json').out).edge.queued
}

const decision = (task: string, chosen: string) => ({
  task_id: task,
  category: 'other',
  question: 'Which?',
  chosen,
  reasoning: 'It is simpler.',
})

test('cases 33, 36 and 38: the work goes on while the server is away, and arrives once, in order', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const agent = await machine.connect()
  const { mission_id: mission } = await agent.call('start_mission', { name: 'M', objective: 'It works' })
  await agent.call('list_missions')
  expect(queued(machine)).toBe(0)
  await agent.call('start_task', { mission_id: mission, name: 'Early', goal: 'g' })
  await away(server)

  const began = performance.now()
  const started = await agent.call('start_task', {
    mission_id: mission,
    name: 'Later',
    goal: 'g',
    areas: ['src/'],
  })
  expect(started).toMatchObject({ queued: true, snapshot_type: 'git', areas: [{ files: 2 }] })
  for (const word of ['one', 'two', 'three']) {
    expect(await agent.call('log_decision', decision(started.task_id, word))).toMatchObject({
      queued: true,
      decision_id: expect.stringMatching(/^d-/),
    })
  }
  machine.write('src/api.ts', 'export const api = 2\n')
  const ended = await agent.call('complete_task', {
    task_id: started.task_id,
    status: 'success',
    outcome: { summary: 'Changed src/api.ts.' },
  })
  expect(ended).toMatchObject({ queued: true, files_changed: { modified: ['src/api.ts'] } })
  machine.write('src/api.ts', 'export const api = 3\n')

  // What cannot wait is refused at once, and says why.
  expect(await agent.refusal('start_mission', { name: 'N', objective: 'o' })).toContain('is away since')
  expect(await agent.refusal('taskman_task_next', { claim: true })).toContain('is away since')
  expect(
    await agent.refusal('state_gate_emit_event', {
      run_id: 'run-x',
      event_name: 'go',
      expected_revision: 1,
      idempotency_key: 'k',
    }),
  ).toContain('5 calls wait for it')
  const missions = await agent.client.callTool({ name: 'list_missions', arguments: {} })
  expect(JSON.stringify(missions.content)).toContain('not now')
  expect(missions.structuredContent).toMatchObject({ stale: { as_of: expect.any(String) }, missions: [{}] })
  expect(performance.now() - began).toBeLessThan(40_000)
  expect(queued(machine)).toBe(5)

  await server.again()
  await eventually(async () => queued(machine) === 0)
  const facts = await server.journal()
  const late = facts.filter(({ actor }) => actor.doneAt !== undefined)
  expect(kinds(late).filter((kind) => !kind.startsWith('hold') && kind !== 'task.planned')).toEqual([
    'attempt.opened',
    'decision.logged',
    'decision.logged',
    'decision.logged',
    'lines.recorded',
    'attempt.closed',
  ])
  const changes = await server.api('changes', { id: started.task_id })
  expect(changes).toMatchObject({ attempt_id: started.attempt_id, total: 1 })
  const { diff } = await server.api('diff', { id: started.task_id })
  expect(diff).toContain('+export const api = 2')

  const edge = JSON.parse(readFileSync(join(machine.home, 'state', 'waymark', 'edge', 'edge.json'), 'utf8'))
  // What an edge says of itself comes with its calls, and is kept a moment later.
  const heard = async () => {
    const { edges } = await server.api('edge_list')
    const words = edges.map(({ id, token, queued: waits }: Answer) => [token, id === edge.id, waits])
    return words.sort()
  }
  await expect.poll(heard).toEqual([['ada', true, 0]])
  // No token is in what was recorded, said or kept in the project.
  const said = JSON.stringify([facts, await server.api('edge_list'), server.greeting])
  const ada = JSON.parse(readFileSync(join(machine.home, 'state', 'waymark', 'edge', 'servers.json'), 'utf8'))
    .servers[server.address].token
  expect(said).not.toContain(ada)
  for (const name of ['edge.db', 'edge.db-wal', 'server']) {
    const file = join(machine.folder, '.waymark', name)
    if (existsSync(file)) expect(readFileSync(file, 'latin1')).not.toContain(ada)
  }
})

test('what waits goes first, also while the last of it is being sent', async () => {
  const server = await teamServer()
  const proxy = await proxyBefore(server.port)
  const machine = edgeMachine()
  await ranAt(machine, ['connect', `${proxy.address}/p/shop`], { WAYMARK_TOKEN: server.newToken('ada') })
  const agent = await machine.connect()
  const { mission_id: mission } = await agent.call('start_mission', { name: 'M', objective: 'It works' })
  const task = await agent.call('start_task', { mission_id: mission, name: 'T', goal: 'g' })
  await away(server)
  expect(await agent.call('log_decision', decision(task.task_id, 'first'))).toMatchObject({ queued: true })

  const held = proxy.hold('/p/shop/api/edge/call')
  await server.again()
  await eventually(async () => held.isThere())
  const second = agent.call('log_decision', decision(task.task_id, 'second'))
  await Promise.race([second, sleep(1_500)])
  held.letGo()
  await second
  const logged = async () =>
    (await server.journal()).filter(({ happening }) => happening.kind === 'decision.logged')
  await eventually(async () => (await logged()).length === 2)
  expect((await logged()).map(({ happening }) => happening.decision.chosen)).toEqual(['first', 'second'])
})

test('cases 34 and 35: what waits outlives the process, and what was taken meanwhile becomes a question', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const { mission_id: mission } = await server.api('start_mission', { name: 'M', objective: 'It works' })
  const planned = await server.api('plan_tasks', {
    mission_id: mission,
    phases: [{ name: 'All' }],
    tasks: [
      { key: 'a', title: 'Wanted by two', phase: 'All' },
      { key: 'b', title: 'Free', phase: 'All' },
    ],
  })
  const ids = planned.tasks.map(({ id }: Answer) => id)
  const agent = await machine.connect()
  await agent.call('taskman_task_list', { mission: mission })
  expect(queued(machine)).toBe(0)
  await away(server)
  const wanted = await agent.call('start_task', { planned_task_id: ids[0] })
  await agent.call('log_decision', decision(ids[0], 'mine'))
  machine.write('src/auth.ts', 'export const auth = 2\n')
  await agent.call('complete_task', {
    task_id: ids[0],
    status: 'success',
    outcome: { summary: 'Changed src/auth.ts.' },
  })
  const free = await agent.call('start_task', { planned_task_id: ids[1] })
  expect([wanted.queued, free.queued]).toEqual([true, true])
  agent.kill()

  await server.again()
  await server.api('taskman_task_edit', { id: ids[0], assignee: 'bob' })
  const rival = connectedMachine(server, server.newToken('bob'))
  const other = await rival.connect()
  await other.call('start_task', { planned_task_id: ids[0] })
  // Two processes at once send what waits once.
  const [one, two] = [await machine.connect(), await machine.connect()]
  await eventually(async () => queued(machine) === 0)
  const facts = await server.journal()
  const ofAda = facts.filter(({ actor }) => actor.doneAt !== undefined)
  expect(kinds(ofAda).filter((kind) => kind === 'attempt.opened')).toHaveLength(1)
  const { holds } = await server.api('inbox')
  const [hold] = holds.filter(({ kind }: Answer) => kind === 'review')
  expect(hold.reason).toContain('while the server was away')
  expect(hold.reason).toContain('src/auth.ts')
  expect(hold.reason).toContain('mine')
  const told = await Promise.all(
    [one, two].map((agent) => agent.client.callTool({ name: 'list_missions', arguments: {} })),
  )
  expect(JSON.stringify(told)).toContain('was refused when the server was back')
})
