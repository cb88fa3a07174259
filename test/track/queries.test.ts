import { expect, test } from 'vitest'
import { z } from 'zod'
import { recordDue } from '../../src/inbox/operations/record-due.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { defineOperation } from '../../src/kernel/operations/operation.ts'
import { openTeam } from '../people/team-server.ts'
import { type Answer, openProject, person, type TestProject } from '../support/project.ts'
import { jsonOf } from '../surfaces/http/http-project.ts'

const threeHours = 3 * 60 * 60 * 1000
const asPerson = { actor: person }

const headOf = ({ context }: Pick<TestProject, 'context'>) =>
  context.store.view(({ eventLog: log }) => log.head())
const eventsAfter = async ({ context }: Pick<TestProject, 'context'>, head: number) =>
  (await context.store.view(({ eventLog: log }) => log.since(head, 100))).map(({ body, actor }) => ({
    kind: body.kind,
    by: actor.name,
  }))

/** A stale attempt, and a claim that ran out. */
async function withDue() {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Shop', objective: 'A shop' })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Draw', agent_name: 'builder' })
  const phase = await project.call('taskman_phase_add', { id: 'one', name: 'One' })
  const planned = await project.call('taskman_task_add', { title: 'Paint', phase: phase.id })
  await project.call('taskman_task_next', { claim: true, agent_name: 'painter' })
  project.wait(threeHours)
  return { project, mission_id, task_id, planned_id: planned.id }
}

test('a query that calls a writing method of a store is refused at run time', async () => {
  const { context } = await openProject()
  for (const method of ['record', 'restore', 'repair', 'accept', 'backup', 'putBack', 'close']) {
    const query = defineOperation({
      name: 'a_query',
      command: 'a query',
      toolset: 'track',
      audience: 'both',
      title: 'A query',
      description: 'Tries to record.',
      kind: 'query',
      input: z.strictObject({}),
      output: z.object({}),
    }).handler(async ({ store }) => {
      await Reflect.get(store, method)({})
      return {}
    })
    await expect(invoke(query, context, {}), method).rejects.toThrow(`A query called ${method}`)
  }
})

test('queries show a stale attempt and an expired claim as due, and record nothing', async () => {
  const { project, mission_id, task_id, planned_id } = await withDue()
  const head = await headOf(project)
  for (const [name, input] of [
    ['inbox', {}],
    ['inbox', { include: ['evidence'] }],
    ['search', { words: 'draw' }],
    ['taskman_task_list', {}],
    ['taskman_task_get', { id: planned_id }],
    ['taskman_task_next', {}],
    ['get_context', { mission_id, include: ['blockers'] }],
    ['list_missions', {}],
    ['status', {}],
    ['board', {}],
    ['show', { id: task_id }],
    ['show', { id: mission_id }],
    ['changes', { id: task_id }],
    ['stats', {}],
    ['log', {}],
    ['sessions', {}],
    ['doctor', {}],
    ['plan_show', {}],
    ['report', { mission: mission_id }],
  ] as const) {
    await project.call(name, input, asPerson)
    expect([name, await headOf(project)]).toEqual([name, head])
  }
  const { items, total } = await project.call('inbox')
  expect(items).toMatchObject([{ kind: 'stale_attempt', task_id, status: 'open', opened_by: 'waymark' }])
  expect(total).toBe(1)
  expect(await project.call('inbox', { include: ['evidence'] }, asPerson)).toMatchObject({
    total: 1,
    items: [{ task_id, evidence: { attempt_status: 'open' } }],
  })
  expect(await project.call('taskman_task_get', { id: planned_id })).toMatchObject({ claimed_by: null })
  expect((await project.call('inbox', { kind: 'review' })).total).toBe(0)
})

test('what is due is recorded once, by the server itself, under the id that was shown', async () => {
  const { project } = await withDue()
  const head = await headOf(project)
  const [shown] = (await project.call('inbox')).items
  await Promise.all([recordDue(project.context), recordDue(project.context)])
  expect(await eventsAfter(project, head)).toEqual([
    { kind: 'inbox.opened', by: 'waymark' },
    { kind: 'claim.ended', by: 'waymark' },
    { kind: 'note.added', by: 'waymark' },
  ])
  const [recorded] = (await project.call('inbox')).items
  expect(recorded).toEqual(shown)
})

test('a person answers an item that is due before anybody recorded it', async () => {
  const { project, task_id } = await withDue()
  const [shown] = (await project.call('inbox')).items
  const head = await headOf(project)
  await project.call('approve', { id: shown.item_id }, asPerson)
  expect((await project.call('show', { id: task_id })).attempts).toMatchObject([{ status: 'abandoned' }])
  const events = await eventsAfter(project, head)
  expect(events[0]).toEqual({ kind: 'inbox.opened', by: 'waymark' })
  expect(events.at(-1)).toMatchObject({ by: person.name })
})

test('a token that only reads causes no event over HTTP', async () => {
  const team = await openTeam()
  await team.call('token_create', { admin: true, person: 'Ada' })
  const { secret } = await team.call('token_create', {
    name: 'looks',
    kind: 'person',
    person: 'Ada',
    access: 'viewer',
  })
  const [context] = team.contexts
  if (!context) throw new Error('no project')
  await team.call('start_task', { name: 'Draw' })
  const before = await context.store.view(({ eventLog: log }) => log.head())
  for (const name of ['inbox', 'search', 'taskman_task_list', 'board', 'status', 'log']) {
    expect((await team.ask(secret, `/api/${name}`, {})).status, name).toBe(200)
  }
  expect(await jsonOf(team.ask(secret, '/api/inbox', {}))).toMatchObject({ total: 0 })
  expect(await context.store.view(({ eventLog: log }) => log.head())).toBe(before)
})

test('show answers an attempt, an inbox item or an issue with the task that it belongs to', async () => {
  const { call, refused } = await openProject()
  const { task_id, attempt_id } = await call('start_task', { name: 'Map', goal: 'g' })
  const asked = { type: 'other', description: 'Which colour?', requires_human_review: true }
  const { issue_id } = await call('log_issue', { task_id, ...asked })
  const { items } = await call('inbox')
  for (const id of [attempt_id, issue_id, items[0].item_id]) {
    expect(await call('show', { id })).toMatchObject({ kind: 'task', id: task_id })
  }
  expect(await refused('show', { id: 'rv-abcdefgh' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'review_id',
  })
})

test('the board leaves dropped tasks out of what is done', async () => {
  const { call } = await openProject()
  await call('taskman_phase_add', { name: 'Build', id: 'P1' })
  const drop = await call('taskman_task_add', { title: 'Drop me', phase: 'P1' })
  const done = await call('taskman_task_add', { title: 'Done', phase: 'P1' })
  await call('task_drop', { id: drop.id, reason: 'no' }, { actor: person })
  await call('taskman_task_edit', { id: done.id, status: 'done' })
  expect((await call('board')).columns.done.map(({ title }: Answer) => title)).toEqual(['Done'])
})
