import { expect, test } from 'vitest'
import { type Answer, agentActor, person } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

const gemini = { actor: { ...agentActor, name: 'gemini-cli', connection: 'c-1' } }
const outcome = { summary: 'Done.', achievements: [], limitations: [] }

type Call = Awaited<ReturnType<typeof openPlan>>['call']

async function authors(call: Call, kinds = /./): Promise<readonly (readonly string[])[]> {
  const { events } = await call('log', { limit: 100 })
  return events.filter(({ kind }: Answer) => kinds.test(kind)).map(({ kind, actor }: Answer) => [kind, actor])
}

async function cards(call: Call): Promise<readonly (string | null)[]> {
  const { columns } = await call('board', {}, { actor: person })
  return Object.values<Answer[]>(columns).flatMap((column) => column.map(({ agent_name }) => agent_name))
}

test('the name that an agent gave for its attempt is its name on the board and in the whole log', async () => {
  const { plan, call } = await openPlan({ git: true })
  const task_id = await plan('Draw')
  const { head } = await call('log', {})
  await call('start_task', { planned_task_id: task_id, agent_name: 'eli' }, gemini)
  const decision = { category: 'other', question: 'Which?', chosen: 'This', reasoning: 'Simple' }
  await call('log_decision', { task_id, ...decision }, gemini)
  await call('log_milestone', { task_id, message: 'Half' }, gemini)
  await call('taskman_task_note_add', { id: task_id, content: 'A note' }, gemini)
  const issue = { type: 'other', description: 'Which color?', requires_human_review: true }
  await call('log_issue', { task_id, ...issue }, gemini)
  const opened = await call('inbox', {}, { actor: person })
  expect(opened.items[0]).toMatchObject({ opened_by: 'eli' })
  await call('complete_task', { task_id, status: 'success', outcome }, gemini)
  await call('complete_task', { task_id, correction: 'It was less.' }, gemini)
  expect(new Set((await authors(call)).slice(head).map(([, actor]) => actor))).toEqual(new Set(['eli']))
  expect(await cards(call)).toEqual(['eli'])
  const { events } = await call('log', { limit: 1 })
  expect(events[0]).toMatchObject({ kind: 'attempt.corrected', actor: 'eli', client: 'gemini-cli' })
  const shown = await call('show', { id: task_id }, { actor: person })
  expect(JSON.stringify(shown)).toContain('"agent_name":"eli"')
})

test('the name of a claim is kept in the attempt that is begun without one', async () => {
  const { plan, call } = await openPlan({ git: true })
  const id = await plan('Draw')
  await call('taskman_task_next', { claim: true, agent_name: 'eli' }, gemini)
  expect(await cards(call)).toEqual(['eli'])
  await call('taskman_task_note_add', { id, content: 'A note' }, gemini)
  await call('start_task', { planned_task_id: id }, gemini)
  expect(await cards(call)).toEqual(['eli'])
  const named = await authors(call, /^(task.claimed|note.added|attempt.opened)$/)
  expect(named).toEqual([
    ['task.claimed', 'eli'],
    ['note.added', 'eli'],
    ['attempt.opened', 'eli'],
  ])
})

test('without a name the client is named, and a person keeps their own', async () => {
  const { plan, call } = await openPlan({ git: true })
  const [first, second] = [await plan('First'), await plan('Second')]
  await call('start_task', { planned_task_id: first }, gemini)
  await call('start_task', { planned_task_id: second, agent_name: 'eli' }, gemini)
  await call('log_milestone', { task_id: second, message: 'Half' }, { actor: person })
  const last = await authors(call, /^(attempt.opened|progress.logged)$/)
  expect(last).toEqual([
    ['attempt.opened', 'gemini-cli'],
    ['attempt.opened', 'eli'],
    ['progress.logged', person.name],
  ])
  const { events } = await call('log', { limit: 1 })
  expect(events[0]).toMatchObject({ actor_kind: 'person', client: null })
})

test('another agent that records into an attempt keeps its own name', async () => {
  const { call } = await openPlan()
  const { mission_id } = await call('start_mission', { name: 'Shop', objective: 'Sell' })
  const { task_id } = await call('start_task', { mission_id, name: 'Build', agent_name: 'eli' })
  const other = { name: 'gemini-cli', kind: 'agent', role: null, channel: 'stdio' } as const
  await call('log_milestone', { task_id, message: 'Half of it.' }, { actor: other })
  await call('log_milestone', { task_id, message: 'All of it.' })
  const { events } = await call('log', { limit: 2 })
  expect(events.map(({ actor }: Answer) => actor).toSorted()).toEqual(['eli', 'gemini-cli'])
})
