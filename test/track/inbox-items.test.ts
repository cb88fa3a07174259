import { describe, expect, test } from 'vitest'
import { type Answer, notFound, openProject, person } from '../support/project.ts'

const done = { status: 'success', outcome: { summary: 's' } }
const asPerson = { actor: person }

async function blocked() {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  const { task_id } = await project.call('start_task', {
    mission_id,
    name: 'a',
    agent_name: 'builder',
    areas: ['auth'],
  })
  const { issue_id } = await project.call('log_issue', {
    task_id,
    type: 'unclear_requirement',
    description: 'Cookies or tokens?',
    resolution: 'Waiting',
    requires_human_review: true,
  })
  const context = () => project.call('get_context', { mission_id, include: ['blockers'] })
  return { project, mission_id, task_id: task_id as string, issue_id: issue_id as string, context }
}

test('a blocker waits in the inbox; a person’s answer reaches the agent through get_context', async () => {
  const { project, issue_id, context, task_id } = await blocked()
  const { items } = await project.call('inbox')
  expect(items).toMatchObject([
    { kind: 'blocker', reason: 'Cookies or tokens?', opened_by: 'builder', task_id, issue_id },
  ])
  const answer = await project.call('resolve', { id: items[0].item_id, answer: 'Cookies' }, asPerson)
  expect(answer).toMatchObject({ status: 'resolved', answer: 'Cookies', closed_by: 'Tess' })
  expect(await context()).toMatchObject({
    blockers: [],
    blockers_total: 0,
    answered_blockers: [
      { id: issue_id, resolved: { closed_by: 'Tess', answer: 'Cookies', closed_at: answer.closed_at } },
    ],
  })
  expect((await project.call('inbox')).total).toBe(0)
  expect((await project.call('inbox', { closed: true })).items).toMatchObject([{ status: 'resolved' }])
})

test('an issue’s id serves as well as its inbox item’s', async () => {
  const { project, issue_id } = await blocked()
  expect(await project.call('resolve', { id: issue_id, answer: 'Use cookies.' }, asPerson)).toMatchObject({
    kind: 'blocker',
    answer: 'Use cookies.',
  })
})

describe('resolve is refused', () => {
  test('to agents, with the command for a person', async () => {
    const { project, issue_id } = await blocked()
    expect(await project.refused('resolve', { id: issue_id })).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'person_needed',
    })
  })

  test('twice', async () => {
    const { project, issue_id } = await blocked()
    await project.call('resolve', { id: issue_id, answer: 'Use cookies.' }, asPerson)
    expect(await project.refused('resolve', { id: issue_id }, asPerson)).toMatchObject({
      code: 'CONFLICT',
      reason: 'inbox_item_closed',
    })
  })

  test('by an agent is refused with the command that a person can run', async () => {
    const { project } = await blocked()
    expect(await project.refused('resolve', { id: 'h-1', answer: "It's ours; go" })).toMatchObject({
      reason: 'person_needed',
      hint: `Ask a person to run: waymark resolve h-1 'It'\\''s ours; go'`,
    })
  })

  test('for what does not exist', async () => {
    const { project } = await blocked()
    expect(await project.refused('resolve', { id: 'h-nowhere' }, asPerson)).toMatchObject(
      notFound('inbox item'),
    )
  })
})

test('what a person answers about a contradicted task reaches the agent through get_context', async () => {
  const { project, mission_id, context } = await blocked()
  project.write('src/cart.ts', 'export const cart = 1\n')
  const { task_id } = await project.call('start_task', { mission_id, name: 'Cart', areas: ['src'] })
  const completed = { task_id, status: 'success', outcome: { summary: 'Changed src/cart.ts.' } }
  expect((await project.call('complete_task', completed)).verdict.is).toBe('contradicted')
  const [item] = (await project.call('inbox', { kind: 'verdict' })).items
  await project.call('reject', { id: item.item_id, reason: 'Leave the cart alone.' }, asPerson)
  expect((await context()).answered_blockers).toMatchObject([
    { item_id: item.item_id, task_id, resolved: { answer: 'Leave the cart alone.', closed_by: 'Tess' } },
  ])
})

test('files that a person sent back are resolved for the agent, by one story', async () => {
  const { project, task_id, context } = await blocked()
  project.write('utils.ts', 'changed\n')
  await project.call('complete_task', { task_id, ...done })
  const [item] = (await project.call('inbox', { kind: 'scope' })).items
  await project.call('reject', { id: item.item_id, reason: 'Take it back.' }, asPerson)
  const answered = (await context()).answered_blockers
  expect(answered.find((one: Answer) => one.item_id === item.item_id).resolved).toMatchObject({
    status: 'resolved',
    action: 'sent back',
    answer: 'Take it back.',
  })
})

test('MC1-025 files outside the scope are an inbox item that names them to a person', async () => {
  const { project, task_id } = await blocked()
  project.write('utils.ts', 'changed\n')
  await project.call('complete_task', { task_id, ...done })
  const { items } = await project.call('inbox', { kind: 'scope' })
  expect(items).toMatchObject([{ paths: ['utils.ts'], opened_by: 'waymark', task_id }])
  expect(items[0].reason).toBe('utils.ts changed outside the scope, which is auth.')
})

describe('a stale attempt', () => {
  const threeHours = 3 * 60 * 60 * 1000

  test('is given up when its item is approved', async () => {
    const { project, task_id } = await blocked()
    project.wait(threeHours)
    const { items } = await project.call('inbox', { kind: 'stale_attempt' })
    await project.call('approve', { id: items[0].item_id }, asPerson)
    expect((await project.call('show', { id: task_id })).attempts).toMatchObject([{ status: 'abandoned' }])
  })

  test('goes on when it is rejected, and is asked about again only after two more hours', async () => {
    const { project, task_id } = await blocked()
    project.wait(threeHours)
    const stale = () => project.call('inbox', { kind: 'stale_attempt' })
    const { items } = await stale()
    await project.call('reject', { id: items[0].item_id, reason: 'It goes on.' }, asPerson)
    expect((await stale()).total).toBe(0)
    project.wait(threeHours)
    expect((await stale()).total).toBe(1)
    expect((await project.call('show', { id: task_id })).attempts).toMatchObject([{ status: 'open' }])
  })

  test('stays as it is when its item is dismissed, and is not asked about again', async () => {
    const { project, task_id } = await blocked()
    project.wait(threeHours)
    const stale = () => project.call('inbox', { kind: 'stale_attempt' })
    const { items } = await stale()
    await project.call('resolve', { id: items[0].item_id, dismiss: true }, asPerson)
    project.wait(threeHours)
    expect((await stale()).total).toBe(0)
    expect((await project.call('show', { id: task_id })).attempts).toMatchObject([{ status: 'open' }])
  })

  test('that speaks again ends its inbox item by completing', async () => {
    const { project, task_id } = await blocked()
    project.wait(threeHours)
    await project.call('inbox')
    await project.call('complete_task', { task_id, ...done })
    expect((await project.call('inbox', { kind: 'stale_attempt' })).total).toBe(0)
  })
})

describe('an inbox item about an attempt’s silence ends with the attempt', () => {
  const later = 3 * 60 * 60 * 1000

  async function silent() {
    const { project, mission_id, task_id, issue_id } = await blocked()
    await project.call('resolve', { id: issue_id, answer: 'Use cookies.' }, asPerson)
    project.wait(later)
    expect((await project.call('inbox')).items).toMatchObject([{ kind: 'stale_attempt', task_id }])
    return { project, mission_id, task_id }
  }

  test('when somebody takes the task over', async () => {
    const { project, task_id } = await silent()
    await project.call('start_task', { planned_task_id: task_id, agent_name: 'other', take_over: true })
    expect((await project.call('inbox')).items).toEqual([])
  })

  test('or with its silence: the agent takes it up again, and it is not stale any more', async () => {
    const { project, task_id } = await silent()
    await project.call('start_task', { planned_task_id: task_id, agent_name: 'builder' })
    expect((await project.call('inbox')).items).toEqual([])
    const other = { planned_task_id: task_id, agent_name: 'other', take_over: true }
    expect(await project.refused('start_task', other)).toMatchObject({
      code: 'CONFLICT',
      reason: 'attempt_of_other_agent',
    })
  })

  test('when the mission is given up', async () => {
    const { project, mission_id } = await silent()
    await project.call('prune', {}, asPerson)
    await project.call('complete_mission', { mission_id, status: 'failed', summary: 's' })
    expect((await project.call('inbox')).items).toEqual([])
    expect((await project.call('inbox', { closed: true })).items[0]).toMatchObject({
      kind: 'stale_attempt',
      answer: 'The mission was completed as failed.',
    })
  })
})

test('the inbox of a mission that does not exist is refused, not that of all', async () => {
  const { project } = await blocked()
  expect(await project.refused('inbox', { mission_id: 'm-none' })).toMatchObject(notFound('mission'))
})

test('a mission shows every inbox item as what it is, with who opened it', async () => {
  const { project, mission_id, task_id } = await blocked()
  project.write('src/api.ts', 'changed\n')
  await project.call('complete_task', { task_id, ...done })
  expect(await project.call('show', { id: mission_id })).toMatchObject({
    items: [
      { kind: 'blocker', opened_by: 'builder' },
      { kind: 'scope', opened_by: 'waymark', paths: ['src/api.ts'] },
    ],
    items_total: 2,
  })
})
