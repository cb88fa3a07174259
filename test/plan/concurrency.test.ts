import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openContext } from '../../src/app/open-context.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import { amount } from '../support/amount.ts'
import { type Answer, agentActor } from '../support/project.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { temporaryRepository } from '../surfaces/mcp/server-process.ts'
import { type PlanServer, startServers } from './servers.ts'

// Starting that many processes takes a while on a small machine.
const patient = { timeout: 240_000 }
const processes = amount({ test: 3, soak: 50 })
const each = amount({ test: 10, soak: 20 })

async function firstOf(servers: readonly PlanServer[]): Promise<PlanServer> {
  const [first] = servers
  if (!first) throw new Error('no server was started')
  return first
}

test('many processes make, fill and claim one fresh plan: nothing is lost, one wins', patient, async () => {
  const servers = await startServers(temporaryRepository(), processes)
  const one = await firstOf(servers)

  const phases = await Promise.all(
    servers.map(({ result }) => result('taskman_phase_add', { id: 'P1', name: 'Build' })),
  )
  expect(phases.filter(({ isError }) => !isError)).toHaveLength(1)
  const refusals = phases.filter(({ isError }) => isError).map(({ content }) => content[0].text)
  expect(refusals.filter((text) => !text.startsWith('phase already exists: P1'))).toEqual([])

  const made = await Promise.all(
    servers.map(async ({ call }, server) => {
      const ids: string[] = []
      for (let number = 0; number < each; number += 1) {
        const input = { title: `${server}/${number}`, phase: 'P1', role: 'developer' }
        ids.push((await call('taskman_task_add', input)).id)
      }
      return ids
    }),
  )
  const { tasks, total } = await one.call('taskman_task_list', { limit: 1000 })
  expect(total).toBe(processes * each)
  expect(new Set(tasks.map(({ id }: Answer) => id))).toEqual(new Set(made.flat()))
  for (const ids of made) {
    const listed = tasks.map(({ id }: Answer) => id).filter((id: string) => ids.includes(id))
    expect(listed).toEqual(ids)
  }

  const { id } = await one.call('taskman_task_add', { title: 'The one', phase: 'P1', role: 'qa-engineer' })
  const claims = await Promise.all(
    servers.map(({ call }) => call('taskman_task_next', { claim: true, role: 'qa-engineer' })),
  )
  const winners = claims.filter(({ claim }) => claim !== null)
  expect(winners).toMatchObject([{ task: { id, status: 'in_progress' } }])
  expect(claims.filter(({ task }) => task !== null)).toHaveLength(1)
  expect(await one.call('taskman_task_get', { id })).toMatchObject({ claimed_by: winners[0].claim.agent })
})

test('several processes start one planned task: one attempt is opened', patient, async () => {
  const servers = await startServers(temporaryRepository(), amount({ test: 3, soak: 8 }))
  const one = await firstOf(servers)
  await one.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  const { id } = await one.call('taskman_task_add', { title: 'The one', phase: 'P1' })
  const starts = await Promise.all(
    servers.map(({ result }) => result('start_task', { name: 'The one', planned_task_id: id })),
  )
  expect(starts.filter(({ isError }) => !isError)).toHaveLength(1)
  const refusals = starts.filter(({ isError }) => isError)
  for (const { structuredContent } of refusals) expect(structuredContent.error.code).toBe('CONFLICT')
})

test(
  'A after B and B after A, added by two processes at once, end in exactly one refusal',
  patient,
  async () => {
    const [left, right] = await startServers(temporaryRepository(), 2)
    if (!left || !right) throw new Error('two servers are needed')
    await left.call('taskman_phase_add', { id: 'P1', name: 'Build' })
    for (let round = 0; round < amount({ test: 5, soak: 20 }); round += 1) {
      const { id: a } = await left.call('taskman_task_add', { title: `A${round}`, phase: 'P1' })
      const { id: b } = await right.call('taskman_task_add', { title: `B${round}`, phase: 'P1' })
      const answers = await Promise.all([
        left.result('taskman_task_dep_add', { 'task-id': a, 'dep-id': b }),
        right.result('taskman_task_dep_add', { 'task-id': b, 'dep-id': a }),
      ])
      const refused = answers.filter(({ isError }) => isError)
      expect(refused).toHaveLength(1)
      expect(refused[0].content[0].text).toMatch(/^circular dependency: (\S+) → (\S+) → \1\n/)
    }
  },
)

test(
  'the lease of a holder that was killed runs out, and exactly one other gets the task',
  patient,
  async () => {
    const folder = temporaryRepository()
    const holder = await firstOf(await startServers(folder, 1))
    await holder.call('taskman_phase_add', { id: 'P1', name: 'Build' })
    const { id } = await holder.call('taskman_task_add', { title: 'The one', phase: 'P1' })
    const { claim } = await holder.call('taskman_task_next', { claim: true })
    holder.process.kill()
    await once(holder.process, 'exit')

    const early = laterAgent(folder, 'early', 0)
    expect((await early('taskman_task_next', { claim: true })).task).toBeNull()
    const agents = Array.from({ length: amount({ test: 3, soak: 10 }) }, (_, index) =>
      laterAgent(folder, `later-${index}`, 31 * 60_000),
    )
    const claims = await Promise.all(agents.map((ask) => ask('taskman_task_next', { claim: true })))
    const winners = claims.filter(({ task }) => task !== null)
    expect(winners).toMatchObject([{ task: { id }, claim: { token: expect.any(String) } }])

    const again = agents[claims.findIndex(({ task }) => task === null)]
    const input = { name: 'The one', planned_task_id: id, claim_token: claim.token }
    await expect(again?.('start_task', input)).rejects.toThrow(
      `The claim ${claim.token} on task ${id} has ended`,
    )
    const notes = await again?.('taskman_task_note_list', { id })
    expect(notes).toMatchObject({
      total: 1,
      notes: [{ content: expect.stringContaining('agent-0 claimed it') }],
    })
  },
)

/** Another agent on a connection of its own to the same database, whose clock is ahead. */
function laterAgent(folder: string, name: string, ahead: number) {
  const opened = openContext({
    actor: { ...agentActor, name },
    environment: serverEnvironment(join(folder, '..')),
    workingFolder: folder,
  })
  onTestFinished(() => opened.store.close())
  const context: Context = { ...opened, clock: { now: () => Date.now() + ahead } }
  return (tool: string, input: object): Promise<Answer> => {
    const operation = catalog.find((candidate) => candidate.name === tool)
    if (!operation) throw new Error(`no operation ${tool}`)
    return invoke(operation, context, input)
  }
}
