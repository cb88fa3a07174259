import { describe, expect, test } from 'vitest'
import { type Answer, openProject, person } from '../support/project.ts'

const done = { status: 'success', outcome: { summary: 'Built.' } }
const asPerson = { actor: person }

/** Two tasks, the second of which waits for the first, in a mission; the first is begun. */
async function chain() {
  const project = await openProject()
  const { call } = project
  const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
  await call('taskman_phase_add', { id: 'P1', name: 'Build', mission: mission_id })
  const plan = async (title: string) => (await call('taskman_task_add', { title, phase: 'P1' })).id as string
  const [first, second] = [await plan('Cookies'), await plan('Log in')]
  await call('taskman_task_dep_add', { 'task-id': second, 'dep-id': first })
  await call('start_task', { planned_task_id: first, areas: ['auth'] })
  const ask = (more: object = {}): Promise<Answer> =>
    call('log_issue', {
      task_id: first,
      type: 'unclear_requirement',
      description: 'Cookies or tokens?',
      requires_human_review: true,
      ...more,
    })
  const ready = async () => (await call('taskman_task_list', { mission: mission_id, ready: true })).tasks
  const second$ = () => call('taskman_task_get', { id: second })
  const whole = async () => {
    const inspection = await project.context.store.inspect()
    expect(inspection).toMatchObject({ differences: [], error: null })
  }
  return { project, call, mission_id, first, second, ask, ready, second$, whole }
}

describe('a task with an open blocker or review', () => {
  test('is done but not settled: what depends on it waits until a person answers', async () => {
    const { project, call, first, second, ask, ready, second$, whole } = await chain()
    const { issue_id } = await ask()
    const answer = await call('complete_task', { task_id: first, ...done })
    expect(answer).toMatchObject({
      settled: false,
      waits_for: [{ item_id: expect.stringMatching(/^h-/), kind: 'blocker', question: 'Cookies or tokens?' }],
    })
    expect(await call('taskman_task_get', { id: first })).toMatchObject({ status: 'done', settled: false })
    expect(await ready()).toEqual([])
    expect(await second$()).toMatchObject({ blocked: true })
    const refused = await project.refused('start_task', { planned_task_id: second })
    expect(refused).toMatchObject({
      code: 'REFUSED',
      reason: 'dependencies_open',
      fix: { operation: 'taskman_task_next' },
      message: expect.stringContaining(answer.waits_for[0].item_id),
    })
    await call('resolve', { id: issue_id, answer: 'Cookies.' }, asPerson)
    expect((await ready()).map(({ id }: Answer) => id)).toEqual([second])
    expect(await call('taskman_task_get', { id: first })).not.toHaveProperty('settled')
    await whole()
  })

  test('a review that the completion asks for holds up too', async () => {
    const { call, first, ready, whole } = await chain()
    const outcome = { summary: 'Built.', manual_review_needed: true, manual_review_reason: 'Is it safe?' }
    const { waits_for } = await call('complete_task', { task_id: first, status: 'success', outcome })
    expect(waits_for).toMatchObject([{ kind: 'review', question: 'Is it safe?' }])
    expect(await ready()).toEqual([])
    await call('resolve', { id: waits_for[0].item_id, dismiss: true }, asPerson)
    expect(await ready()).toHaveLength(1)
    await whole()
  })

  test('a remote machine that is added later waits as well, and one that is removed does not', async () => {
    const { call, first, ask, ready, whole } = await chain()
    await ask()
    await call('complete_task', { task_id: first, ...done })
    const { id } = await call('taskman_task_add', { title: 'Docs', phase: 'P1' })
    expect(await ready()).toMatchObject([{ id }])
    const machine = { 'task-id': id, 'dep-id': first }
    expect(await call('taskman_task_dep_add', machine)).toMatchObject({ blocked: true })
    expect(await ready()).toEqual([])
    expect(await call('taskman_task_dep_remove', machine)).toMatchObject({ blocked: false })
    expect(await ready()).toMatchObject([{ id }])
    await whole()
  })

  test('the plan shows what waits for it as blocked, not as ready', async () => {
    const { call, first, second, ask, mission_id } = await chain()
    await ask()
    await call('complete_task', { task_id: first, ...done })
    const { phases } = await call('plan_show', { mission: mission_id })
    const tasks = phases.flatMap((phase: Answer) => phase.tasks)
    expect(tasks.find(({ id }: Answer) => id === second)).toMatchObject({
      mark: 'blocked',
      waits_for: [first],
    })
  })
})

test('an approved review accepts the claims of its time, not those that the agent made later', async () => {
  const { call, first, project } = await chain()
  project.write('auth/login.ts', 'export {}\n')
  const asking = { manual_review_needed: true, manual_review_reason: 'Is it safe?' }
  const claim = (summary: string) =>
    call('complete_task', { task_id: first, status: 'success', outcome: { summary, ...asking } })
  const open = async (kind: string) =>
    (await call('inbox', { kind })).items.map(({ item_id }: Answer) => item_id)
  await claim('Changed README.md.')
  const [review] = await open('review')
  const [before] = await open('verdict')
  await claim('Rewrote README.md.')
  const [after] = await open('verdict')
  expect([before, after]).toEqual([expect.any(String), expect.not.stringMatching(before)])
  await call('approve', { id: review }, asPerson)
  expect(await open('verdict')).toEqual([after])
})

test('files outside the scope are said, and do not hold up', async () => {
  const { project, call, first, ready } = await chain()
  project.write('utils.ts', 'changed\n')
  const answer = await call('complete_task', { task_id: first, ...done })
  expect(answer.waits_for).toMatchObject([{ kind: 'scope' }])
  expect(answer).not.toHaveProperty('settled')
  expect(await ready()).toHaveLength(1)
})

describe('settings.holds_gate', () => {
  const set = { name: 'inbox_gate' }

  test('none: nothing holds up; blockers again: what is open holds up from then on', async () => {
    const { call, first, ask, ready, whole } = await chain()
    await ask()
    await call('complete_task', { task_id: first, ...done })
    await call('setting_set', { ...set, value: 'none' }, asPerson)
    expect(await ready()).toHaveLength(1)
    await call('setting_set', { ...set, value: 'blockers' }, asPerson)
    expect(await ready()).toEqual([])
    await whole()
  })

  test('all: files outside the scope hold up too, and the mission is not completed', async () => {
    const { project, call, first, second, mission_id, ready, whole } = await chain()
    await call('setting_set', { ...set, value: 'all' }, asPerson)
    project.write('utils.ts', 'changed\n')
    const { waits_for } = await call('complete_task', { task_id: first, ...done })
    expect(await ready()).toEqual([])
    await whole()
    await call('task_drop', { id: second, reason: 'Not needed' })
    const ending = { mission_id, status: 'completed', summary: 's' }
    expect(await project.refused('complete_mission', ending)).toMatchObject({
      reason: 'questions_open',
      details: { waits_for: [{ item_id: waits_for[0].item_id }] },
    })
    await call('approve', { id: waits_for[0].item_id }, asPerson)
    expect(await call('complete_mission', ending)).toMatchObject({ status: 'completed', waits_for: [] })
  })
})

test('a mission with an open question ends as asked, says so, and the question stays in the inbox with its name', async () => {
  const { call, first, second, ask, mission_id } = await chain()
  await ask()
  await call('complete_task', { task_id: first, ...done })
  await call('task_drop', { id: second, reason: 'Not needed' })
  const ended = await call('complete_mission', { mission_id, status: 'completed', summary: 's' })
  expect(ended).toMatchObject({
    status: 'completed',
    waits_for: [{ kind: 'blocker', question: 'Cookies or tokens?' }],
    warnings: expect.arrayContaining([expect.stringContaining('1 inbox item still waits')]),
    doubted: { contradicted: 0, unproven: 1, tasks: [{ task_id: first }] },
  })
  expect((await call('inbox')).items).toMatchObject([
    { mission_id, mission_name: 'Auth', task_name: 'Cookies' },
  ])
})

describe('asking is not resolving', () => {
  test('a question needs no resolution', async () => {
    const { call, ask } = await chain()
    expect(await ask()).toMatchObject({ blocker: true })
    expect((await call('inbox')).items).toMatchObject([{ reason: 'Cookies or tokens?', workaround: null }])
  })
})
