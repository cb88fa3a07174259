import { describe, expect, test } from 'vitest'
import type { Answer } from '../support/project.ts'
import { notFound, wrongFields } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

async function openMilestones() {
  const project = await openPlan()
  await project.call('taskman_phase_add', { id: 'P2', name: 'Build' })
  const milestone = await project.call('taskman_milestone_add', { id: 'M1', phase: 'P1' })
  return { ...project, milestone }
}

describe('taskman_milestone_add', () => {
  test('TM-047 TM-048 a milestone is of a phase; what is absent is null', async () => {
    const { milestone } = await openMilestones()
    expect(milestone).toEqual({
      id: 'M1',
      phase_id: 'P1',
      name: null,
      criterion: null,
      reached: 0,
      mission_id: null,
      created_at: expect.any(String),
    })
  })

  test('TM-049 TM-050 it may have a name and a criterion, and be reached', async () => {
    const { call } = await openMilestones()
    const input = { id: 'M2', phase: 'P2', name: 'Beta', criterion: 'Ten users', reached: '1' }
    const expected = {
      id: 'M2',
      phase_id: 'P2',
      name: 'Beta',
      criterion: 'Ten users',
      reached: 1,
      mission_id: null,
      created_at: expect.any(String),
    }
    expect(await call('taskman_milestone_add', input)).toEqual(expected)
    for (const reached of [1, 'true', 'yes']) {
      const id = `M-${reached}`
      expect(await call('taskman_milestone_add', { ...input, id, reached })).toMatchObject({ reached: 1 })
    }
  })

  test.each([
    [{ phase: 'P1' }, wrongFields('id')],
    [{ id: 'M2' }, wrongFields('phase')],
    [{ id: 'M2', phase: 'P9' }, notFound('phase')],
    [
      { id: 'M1', phase: 'P1' },
      {
        code: 'CONFLICT',
        reason: 'milestone_exists',
        fix: { operation: 'taskman_milestone_edit', input: { id: 'M1' } },
      },
    ],
    [{ id: 'M2', phase: 'P1', reached: '2' }, wrongFields('reached')],
  ])('TM-047 TM-048 TM-050 what cannot be added is refused: %j', async (input, expected) => {
    const { refused } = await openMilestones()
    expect(await refused('taskman_milestone_add', input)).toMatchObject(expected)
  })
})

describe('taskman_milestone_edit', () => {
  test('TM-051 TM-052 only what is given changes, and fields are cleared by naming them', async () => {
    const { call } = await openMilestones()
    const edited = await call('taskman_milestone_edit', { id: 'M1', name: 'Alpha', criterion: 'It runs' })
    expect(edited).toMatchObject({ name: 'Alpha', criterion: 'It runs', reached: 0 })
    expect(await call('taskman_milestone_edit', { id: 'M1', reached: '1', phase: 'P2' })).toEqual({
      ...edited,
      reached: 1,
      phase_id: 'P2',
    })
    await call('taskman_milestone_edit', { id: 'M1', clear: ['name', 'criterion'], reached: 0 })
    expect((await call('taskman_milestone_list')).milestones).toEqual([
      {
        id: 'M1',
        phase_id: 'P2',
        name: null,
        criterion: null,
        reached: 0,
        mission_id: null,
        created_at: expect.any(String),
      },
    ])
  })

  test('TM-051 with nothing given it prints nothing; an unknown one, or an unknown phase, is an error', async () => {
    const { printed, refused } = await openMilestones()
    expect(await printed('taskman_milestone_edit', { id: 'M1' })).toEqual([''])
    expect(await refused('taskman_milestone_edit', { id: 'M9' })).toMatchObject(notFound('milestone'))
    expect(await refused('taskman_milestone_edit', { id: 'M1', phase: 'P9' })).toMatchObject(
      notFound('phase'),
    )
  })

  test('its open tasks move with it; what is done stays where it was done', async () => {
    const { call, plan, edit, get } = await openMilestones()
    const open = await plan('Open', { milestone: 'M1' })
    const done = await plan('Done', { milestone: 'M1' })
    const other = await plan('Other')
    await edit(done, { status: 'done' })
    await call('taskman_milestone_edit', { id: 'M1', phase: 'P2' })
    expect(await get(open)).toMatchObject({ phase_id: 'P2', milestone_id: 'M1' })
    expect(await get(done)).toMatchObject({ phase_id: 'P1', milestone_id: 'M1' })
    expect(await get(other)).toMatchObject({ phase_id: 'P1', milestone_id: null })
    expect(await call('taskman_task_list', { phase: 'P2' })).toMatchObject({
      total: 1,
      tasks: [{ id: open }],
    })
    expect(await call('taskman_task_list', { phase: 'P1' })).toMatchObject({ total: 2 })
  })
})

test('TM-053 milestones are listed in the order of their phases, of all or of one', async () => {
  const { call, refused } = await openMilestones()
  await call('taskman_milestone_add', { id: 'M0', phase: 'P2' })
  await call('taskman_milestone_add', { id: 'M3', phase: 'P1' })
  const ids = async (filter: object) =>
    (await call('taskman_milestone_list', filter)).milestones.map(({ id }: Answer) => id)
  expect(await ids({})).toEqual(['M1', 'M3', 'M0'])
  expect(await ids({ phase: 'P2' })).toEqual(['M0'])
  expect(await refused('taskman_milestone_list', { phase: 'P9' })).toMatchObject(notFound('phase'))
})
