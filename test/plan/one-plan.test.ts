import { expect, test } from 'vitest'
import { type Answer, troubles } from '../support/project.ts'
import { openEmpty } from './plan-project.ts'

const ids = (entries: readonly Answer[]) => entries.map(({ id }) => id)

/** The project's own phase P1, and a phase of each of two missions, each with one task. */
async function openPlans() {
  const project = await openEmpty({ git: true })
  const { call } = project
  const start = async (name: string) =>
    (await call('start_mission', { name, objective: name })).mission_id as string
  const [checkout, search] = [await start('Checkout'), await start('Search')]
  const homes = [
    { id: 'P1', own: {} },
    { id: 'C1', own: { mission: checkout } },
    { id: 'S1', own: { mission: search } },
  ]
  for (const { id, own } of homes) {
    await call('taskman_phase_add', { id, name: `Phase ${id}`, ...own })
    await call('taskman_milestone_add', { id: `M-${id}`, phase: id, name: `Goal of ${id}` })
    await call('taskman_task_add', { title: `Task of ${id}`, phase: id })
  }
  return { ...project, checkout, search }
}

test('lists span the project’s own plan and every open mission, and say which', async () => {
  const { call, checkout, search } = await openPlans()
  const { phases } = await call('taskman_phase_list')
  expect(phases.map(({ id, mission_id }: Answer) => [id, mission_id])).toEqual([
    ['P1', null],
    ['C1', checkout],
    ['S1', search],
  ])
  const { milestones } = await call('taskman_milestone_list')
  expect(milestones.map(({ id, mission_id }: Answer) => [id, mission_id])).toEqual([
    ['M-P1', null],
    ['M-C1', checkout],
    ['M-S1', search],
  ])
  const { tasks, total } = await call('taskman_task_list')
  expect(total).toBe(3)
  expect(new Set(tasks.map(({ mission_id }: Answer) => mission_id))).toEqual(
    new Set([null, checkout, search]),
  )
  const shown = await call('plan_show')
  expect(shown.tasks).toBe(3)
  expect(shown.phases.map(({ id, mission_name }: Answer) => [id, mission_name])).toEqual([
    ['P1', null],
    ['C1', 'Checkout'],
    ['S1', 'Search'],
  ])
})

test('"mission" narrows, and "none" is the project’s own plan', async () => {
  const { call, checkout } = await openPlans()
  for (const [mission, phase] of [
    [checkout, 'C1'],
    ['none', 'P1'],
  ]) {
    expect(ids((await call('taskman_phase_list', { mission })).phases)).toEqual([phase])
    expect(ids((await call('taskman_milestone_list', { mission })).milestones)).toEqual([`M-${phase}`])
    expect((await call('taskman_task_list', { mission })).tasks).toMatchObject([
      { title: `Task of ${phase}`, mission_id: mission === 'none' ? null : mission },
    ])
    expect((await call('taskman_task_next', { mission })).task.phase_id).toBe(phase)
    expect(ids((await call('plan_show', { mission })).phases)).toEqual([phase])
  }
})

test('taskman_task_next without a mission finds work of a mission', async () => {
  const { call, checkout } = await openPlans()
  const own = (await call('taskman_task_next', { mission: 'none' })).task.id
  await call('taskman_task_edit', { id: own, status: 'done' })
  expect((await call('taskman_task_next')).task).toMatchObject({ mission_id: checkout, phase_id: 'C1' })
})

test('the plan of a mission that ended is out of the lists, and read when it is named', async () => {
  const { call, checkout } = await openPlans()
  await call('complete_mission', { mission_id: checkout, status: 'partial', summary: 'Later.' })
  expect(ids((await call('taskman_phase_list')).phases)).toEqual(['P1', 'S1'])
  expect(ids((await call('taskman_milestone_list')).milestones)).toEqual(['M-P1', 'M-S1'])
  expect(await call('taskman_task_list')).toMatchObject({ total: 2, tasks: [{}, {}] })
  expect(await call('taskman_task_list', { status: 'to_do' })).toMatchObject({ total: 2 })
  expect(await call('taskman_task_list', { mission: checkout })).toMatchObject({ total: 1 })
})

test('tasks of a mission without a phase stand in the outline of that mission', async () => {
  const { call } = await openPlans()
  const { workflow_id } = await call('start_workflow', {
    name: 'Deploy',
    plan: [{ step: '1', goal: 'Build it' }],
  })
  const { phases } = await call('plan_show')
  expect(phases.at(-1)).toMatchObject({ id: null, mission_id: workflow_id, mission_name: 'Deploy', total: 1 })
})

test('a list of all open plans counts the tasks of ended missions, which it leaves out', async () => {
  const { call, checkout } = await openPlans()
  expect(await call('taskman_task_list')).not.toHaveProperty('in_ended_missions')
  await call('complete_mission', { mission_id: checkout, status: 'partial', summary: 'Later.' })
  expect(await call('taskman_task_list')).toMatchObject({ total: 2, in_ended_missions: 1 })
  expect(await call('taskman_task_list', { status: 'done' })).not.toHaveProperty('in_ended_missions')
})

test('a phase id is unique in the project, and the refusal names one that is free', async () => {
  const { call, refused, search } = await openPlans()
  const said = await refused('taskman_phase_add', { id: 'C1', name: 'Again', mission: search })
  expect(said).toMatchObject({
    code: 'CONFLICT',
    reason: 'phase_exists',
    fix: { operation: 'taskman_phase_edit', input: { id: 'C1' } },
    hint: expect.stringContaining('"C1-2"'),
  })
  expect(await call('taskman_phase_add', { id: 'C1-2', name: 'Again', mission: search })).toMatchObject({
    id: 'C1-2',
    mission_id: search,
  })
})

/** A mission whose two phases were planned, with two tasks in the first and one in the second. */
async function openPlanned() {
  const project = await openEmpty({ git: true })
  const { call } = project
  const { mission_id: mission } = await call('start_mission', { name: 'Checkout', objective: 'Pay' })
  await call('taskman_phase_add', { id: 'D', name: 'Design', mission })
  await call('taskman_phase_add', { id: 'B', name: 'Build', mission })
  const add = async (title: string, phase: string) =>
    (await call('taskman_task_add', { title, phase })).id as string
  const [draw, review, code] = [await add('Draw', 'D'), await add('Review', 'D'), await add('Code', 'B')]
  const done = async (planned_task_id: string, more = {}) => {
    await call('start_task', { planned_task_id })
    return call('complete_task', {
      task_id: planned_task_id,
      status: 'success',
      outcome: { summary: 'Done.' },
      ...more,
    })
  }
  const statuses = async () =>
    (await call('taskman_phase_list', { mission })).phases.map(({ id, number, status }: Answer) => [
      id,
      number,
      status,
    ])
  return { ...project, mission, draw, review, code, done, statuses }
}

test('planned phases have numbers: start_task { phase } and phase_name find them', async () => {
  const { call, mission, statuses } = await openPlanned()
  expect(await statuses()).toEqual([
    ['D', 1, 'to_do'],
    ['B', 2, 'to_do'],
  ])
  const goal = 'Work'
  expect(await call('start_task', { mission_id: mission, name: 'One', goal })).toMatchObject({
    phase_id: 'D',
    phase_number: 1,
    phase_created: false,
  })
  expect(await call('start_task', { mission_id: mission, name: 'Two', goal, phase: 2 })).toMatchObject({
    phase_id: 'B',
    phase_created: false,
  })
  expect(
    await call('start_task', { mission_id: mission, name: 'Three', goal, phase_name: 'BUILD' }),
  ).toMatchObject({ phase_id: 'B', phase_created: false })
  expect(
    await call('start_task', { mission_id: mission, name: 'Four', goal, phase_name: 'Ship' }),
  ).toMatchObject({ phase_number: 3, phase_created: true })
  expect(
    (await call('get_context', { mission_id: mission, include: ['phase_summary'] })).phase_summary,
  ).toMatchObject([
    { phase_number: 1, phase_id: 'D' },
    { phase_number: 2, phase_id: 'B' },
    { phase_number: 3, name: 'Ship' },
  ])
})

test('total_phases is the larger of announced and present', async () => {
  const { call, mission } = await openPlanned()
  for (const id of ['T', 'R', 'S']) await call('taskman_phase_add', { id, name: id, mission })
  expect(await call('get_context', { mission_id: mission, include: ['tasks'] })).toMatchObject({
    total_phases: 5,
  })
})

test('an empty phase does not hold up the current one', async () => {
  const { call } = await openEmpty({ git: true })
  const { mission_id } = await call('start_mission', { name: 'Checkout', objective: 'Pay' })
  await call('taskman_phase_add', { id: 'E', name: 'Empty', mission: mission_id })
  await call('taskman_phase_add', { id: 'F', name: 'Full', mission: mission_id })
  await call('taskman_task_add', { title: 'Work', phase: 'F' })
  expect(await call('get_context', { mission_id, include: ['tasks'] })).toMatchObject({ current_phase: 2 })
  expect(await call('start_task', { mission_id, name: 'More', goal: 'More' })).toMatchObject({
    phase_id: 'F',
  })
})

test('a planned task’s phase is its phase everywhere, and its status follows its tasks', async () => {
  const { call, refused, mission, draw, review, code, done, statuses } = await openPlanned()
  expect(await call('start_task', { planned_task_id: draw, phase: 2 })).toMatchObject({
    phase_id: 'D',
    warnings: [expect.stringContaining('phase 2 was ignored: the task is planned in phase 1 "Design"')],
  })
  expect((await statuses())[0]).toEqual(['D', 1, 'in_progress'])
  const report = { task_id: draw, status: 'success', outcome: { summary: 'Done.' } }
  expect(await refused('complete_task', { ...report, phase_complete: true })).toMatchObject({
    code: 'REFUSED',
    reason: 'tasks_open',
  })
  expect(await call('complete_task', report)).toMatchObject({ phase_id: 'D', phase_status: 'in_progress' })
  expect(await done(review)).toMatchObject({ phase_id: 'D', phase_status: 'completed' })
  expect(await call('get_context', { mission_id: mission, include: ['phase_summary'] })).toMatchObject({
    current_phase: 2,
    phase_summary: [
      { phase_number: 1, status: 'COMPLETED', tasks_count: 2 },
      { phase_number: 2, status: 'PENDING', tasks_count: 1 },
    ],
  })
  expect(await done(code, { phase_complete: true })).toMatchObject({
    phase_id: 'B',
    phase_status: 'completed',
  })
})

test('a task of the project’s own plan has its phase too', async () => {
  const { call } = await openEmpty({ git: true })
  await call('taskman_phase_add', { id: 'P1', name: 'Design' })
  const { id } = await call('taskman_task_add', { title: 'Draw', phase: 'P1' })
  expect(await call('start_task', { planned_task_id: id })).toMatchObject({ phase_id: 'P1' })
  const report = { task_id: id, status: 'success', outcome: { summary: 'Done.' } }
  expect(await call('complete_task', { ...report, phase_complete: true })).toMatchObject({
    phase_id: 'P1',
    phase_status: 'completed',
  })
  expect((await call('taskman_phase_list')).phases).toMatchObject([{ id: 'P1', status: 'done' }])
})

test('the phase of a mission that ended leaves its id to another, and the log agrees', async () => {
  const { call, mission, draw } = await openPlanned()
  await call('complete_mission', { mission_id: mission, status: 'partial', summary: 'Later.' })
  expect(await call('taskman_phase_add', { id: 'D', name: 'Design again' })).toMatchObject({
    id: 'D',
    mission_id: null,
  })
  expect(ids((await call('taskman_phase_list', { mission })).phases)).toEqual([`D@${mission}`, 'B'])
  expect(await call('taskman_task_get', { id: draw })).toMatchObject({ phase_id: `D@${mission}` })
  expect(troubles(await call('doctor'))).toEqual([])
})
