import { describe, expect, test } from 'vitest'
import type { Answer } from '../support/project.ts'
import { notFound, openProject, wrongFields } from '../support/project.ts'
import { openEmpty, openPlan } from './plan-project.ts'

describe('taskman_init', () => {
  test('TM-007 TM-037 it makes the storage, says so, and takes no input', async () => {
    const project = await openEmpty({ database: false, isAlone: true })
    expect((await project.context.store.health()).schemaVersion).toBeNull()
    expect(await project.call('taskman_init')).toEqual({ message: 'Database initialized.' })
    expect((await project.context.store.health()).schemaVersion).toBeGreaterThan(0)
    expect(await project.call('taskman_phase_list')).toEqual({ phases: [], total: 0, next_cursor: null })
    expect(await project.refused('taskman_init', { force: true })).toMatchObject(wrongFields('force'))
  })

  test('TM-007 it is safe to repeat and deletes nothing', async () => {
    const { call, plan, titles, printed } = await openPlan()
    await plan('Draw the screens')
    expect(await call('taskman_init')).toEqual({ message: 'Database initialized.' })
    expect(await printed('taskman_init')).toEqual(['Database initialized.'])
    expect(await titles()).toEqual(['Draw the screens'])
  })

  test('nothing has to be initialized first', async () => {
    const { call } = await openEmpty()
    const phase = await call('taskman_phase_add', { id: 'P1', name: 'Design' })
    expect((await call('taskman_phase_list')).phases).toEqual([phase])
  })
})

describe('taskman_phase_add', () => {
  test('TM-039 TM-040 TM-041 TM-042 a phase has an id and a name, and may have a status and a place', async () => {
    const { call, printed } = await openPlan()
    const added = await call('taskman_phase_add', {
      id: 'P2',
      name: 'Build',
      status: 'in_progress',
      'sort-order': 20,
    })
    expect(added).toEqual({
      id: 'P2',
      name: 'Build',
      status: 'in_progress',
      sort_order: 20,
      mission_id: null,
      number: null,
      created_at: expect.any(String),
      completed_at: null,
    })
    expect(await printed('taskman_phase_add', { id: 'P3', name: 'Ship', 'sort-order': '30' })).toEqual([
      expect.stringMatching(
        /^\{"id":"P3","name":"Ship","status":"to_do","sort_order":30,"mission_id":null,"number":null,"created_at":"[^"]+","completed_at":null\}$/,
      ),
    ])
  })

  test.each([
    [{ name: 'Build' }, wrongFields('id')],
    [{ id: 'P2' }, wrongFields('name')],
    [{ id: 'P2', name: '' }, wrongFields('name')],
    [{ id: 'P2', name: 'Build', status: 'blocked' }, wrongFields('status')],
    [{ id: 'P2', name: 'Build', 'sort-order': 'first' }, wrongFields('sort-order')],
    [{ id: 'P2', name: 'Build', 'sort-order': 1.5 }, wrongFields('sort-order')],
    [
      { id: 'P2', name: 'Build', sort_ordr: 1 },
      { ...wrongFields('sort_ordr'), message: expect.stringContaining('did you mean "sort-order"?') },
    ],
    [
      { id: 'P1', name: 'Again' },
      { code: 'CONFLICT', reason: 'phase_exists' },
    ],
    [{ id: 'P2', name: 'Build', mission: 'm-nowhere' }, notFound('mission')],
  ])('TM-039 TM-040 TM-041 TM-042 what cannot be added is refused: %j', async (input, expected) => {
    const { refused, call } = await openPlan()
    expect(await refused('taskman_phase_add', input)).toMatchObject(expected)
    expect((await call('taskman_phase_list')).total).toBe(1)
  })
})

describe('taskman_phase_edit', () => {
  test('TM-043 TM-044 only what is given changes', async () => {
    const { call } = await openPlan()
    const edited = await call('taskman_phase_edit', { id: 'P1', status: 'done', 'sort-order': '5' })
    const at = expect.any(String)
    expect(edited).toEqual({
      id: 'P1',
      name: 'Design',
      status: 'done',
      sort_order: 5,
      mission_id: null,
      number: null,
      created_at: at,
      completed_at: at,
    })
    expect(await call('taskman_phase_edit', { id: 'P1', name: 'Sketch' })).toEqual({
      ...edited,
      name: 'Sketch',
    })
    expect((await call('taskman_phase_list')).phases).toEqual([{ ...edited, name: 'Sketch' }])
  })

  test('a place is cleared by naming it', async () => {
    const { call } = await openPlan()
    await call('taskman_phase_edit', { id: 'P1', 'sort-order': 5 })
    await call('taskman_phase_edit', { id: 'P1', clear: ['sort-order'] })
    expect((await call('taskman_phase_list')).phases).toMatchObject([{ sort_order: null }])
  })

  test('TM-045 with nothing given it does nothing and prints nothing; null and "" are nothing', async () => {
    const { call, printed, context } = await openPlan()
    const before = await context.store.view((reads) => reads.eventLog.head())
    expect(await printed('taskman_phase_edit', { id: 'P1' })).toEqual([''])
    await call('taskman_phase_edit', { id: 'P1', name: null, status: '' })
    expect(await context.store.view((reads) => reads.eventLog.head())).toBe(before)
  })

  test('TM-043 TM-045 an unknown phase is an error, also with nothing given', async () => {
    const { refused } = await openPlan()
    expect(await refused('taskman_phase_edit', { id: 'P9' })).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'phase_not_found',
      fix: { operation: 'taskman_phase_list' },
    })
  })
})

describe('taskman_phase_list', () => {
  test('TM-046 all phases, by sort order and then creation: never by their names', async () => {
    const { call } = await openPlan()
    for (const id of ['P10', 'P2', 'P9']) await call('taskman_phase_add', { id, name: id })
    const ids = async () => (await call('taskman_phase_list')).phases.map(({ id }: Answer) => id)
    expect(await ids()).toEqual(['P1', 'P10', 'P2', 'P9'])
    for (const [id, order] of [
      ['P10', 10],
      ['P2', 2],
      ['P9', 9],
    ]) {
      await call('taskman_phase_edit', { id, 'sort-order': order })
    }
    expect(await ids()).toEqual(['P2', 'P9', 'P10', 'P1'])
  })

  test('a mission has phases of its own', async () => {
    const { call } = await openPlan()
    const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
    await call('taskman_phase_add', { id: 'M1', name: 'Prepare', mission: mission_id })
    expect((await call('taskman_phase_list', { mission: mission_id })).phases).toMatchObject([{ id: 'M1' }])
    expect((await call('taskman_phase_list', { mission: 'none' })).phases).toMatchObject([{ id: 'P1' }])
  })
})

test('a completed phase is open again when a task is planned in it', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
  const statusOfPhase = async () =>
    ((await project.call('taskman_phase_list', { mission_id })) as { phases: { status: string }[] }).phases[0]
      ?.status
  async function done(task: object) {
    const { task_id } = await project.call('start_task', { mission_id, ...task })
    const ending = { task_id, status: 'success', outcome: { summary: 's' }, phase_complete: true }
    await project.call('complete_task', ending)
    expect(await statusOfPhase()).toBe('done')
  }
  await done({ name: 'a', goal: 'g', phase: 1, phase_name: 'Build' })
  const { id } = await project.call('taskman_task_add', { title: 'One more', phase: 'Build' })
  expect(await statusOfPhase()).not.toBe('done')
  await done({ planned_task_id: id })
  await project.call('plan_tasks', { mission_id, tasks: [{ key: 'b', title: 'Another', phase: 'Build' }] })
  expect(await statusOfPhase()).not.toBe('done')
})
