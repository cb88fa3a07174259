import { expect, test } from 'vitest'
import type { Answer } from '../support/project.ts'
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

test('a phase id is unique in the project, and the refusal names one that is free', async () => {
  const { call, refusal, search } = await openPlans()
  const said = await refusal('taskman_phase_add', { id: 'C1', name: 'Again', mission: search })
  expect(said).toContain('phase already exists: C1 "Phase C1" in mission')
  expect(said).toContain('Take "C1-2"')
  expect(await call('taskman_phase_add', { id: 'C1-2', name: 'Again', mission: search })).toMatchObject({
    id: 'C1-2',
    mission_id: search,
  })
})
