import { describe, expect, test } from 'vitest'
import { notFound, wrongFields } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

const shape = {
  id: expect.stringMatching(/^t-[0-9a-z]{12}$/),
  mission_id: null,
  phase_id: 'P1',
  milestone_id: null,
  title: 'Draw',
  description: null,
  status: 'to_do',
  sort_order: null,
  role: null,
  creator: 'test-agent',
  depends_on: [],
  blocked: false,
  claimed_by: null,
  created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
}

describe('taskman_task_add', () => {
  test('TM-054 TM-055 TM-060 a title and a phase make a task with an id of its own', async () => {
    const { call } = await openPlan()
    const added = await call('taskman_task_add', { title: 'Draw', phase: 'P1' })
    expect(added).toEqual(shape)
    const another = await call('taskman_task_add', { title: 'Draw', phase: 'P1' })
    expect(another.id).not.toBe(added.id)
  })

  test('TM-056 TM-057 TM-058 it may have a description, a role, a milestone, a creator and a place', async () => {
    const { call } = await openPlan()
    await call('taskman_milestone_add', { id: 'M1', phase: 'P1' })
    const given = {
      title: 'Draw',
      phase: 'P1',
      description: 'Every screen\nin two sizes',
      role: 'project-designer',
      milestone: 'M1',
      creator: 'Ada',
      'sort-order': '7',
    }
    expect(await call('taskman_task_add', given)).toEqual({
      ...shape,
      description: given.description,
      role: 'project-designer',
      milestone_id: 'M1',
      creator: 'Ada',
      sort_order: 7,
    })
  })

  test.each([
    [{ phase: 'P1' }, wrongFields('title')],
    [{ title: '', phase: 'P1' }, wrongFields('title')],
    [{ title: 'Draw' }, wrongFields('phase')],
    [{ title: 'Draw', phase: 'P9' }, notFound('phase')],
    [{ title: 'Draw', phase: 'P1', milestone: 'M9' }, notFound('milestone')],
    [
      { title: 'Draw', phase: 'P1', milestone: 'M2' },
      { code: 'CONFLICT', reason: 'milestone_of_other_phase' },
    ],
    [
      { title: 'Draw', phase: 'P1', role: 'develper' },
      { reason: 'role_unknown', message: expect.stringContaining('Did you mean "developer"?') },
    ],
    [{ title: 'Draw', phase: 'P1', format: 'xml' }, wrongFields('format')],
    [{ title: 'x'.repeat(301), phase: 'P1' }, wrongFields('title')],
  ])('TM-033 TM-054 TM-055 TM-057 TM-058 what cannot be planned is refused: %j', async (input, expected) => {
    const { call, refused } = await openPlan()
    await call('taskman_phase_add', { id: 'P2', name: 'Build' })
    await call('taskman_milestone_add', { id: 'M2', phase: 'P2' })
    expect(await refused('taskman_task_add', input)).toMatchObject(expected)
    expect((await call('taskman_task_list')).total).toBe(0)
  })

  test('TM-074 an empty text is not given, and so is null', async () => {
    const { call } = await openPlan()
    const nothing = {
      description: '',
      role: '',
      milestone: null,
      creator: '',
      'sort-order': '',
      format: null,
    }
    expect(await call('taskman_task_add', { title: 'Draw', phase: 'P1', ...nothing })).toEqual(shape)
  })
})

describe('taskman_task_get', () => {
  test('TM-061 one task by its id; TM-032 an unknown id in taskman’s words', async () => {
    const { call, refused } = await openPlan()
    const added = await call('taskman_task_add', { title: 'Draw', phase: 'P1' })
    expect(await call('taskman_task_get', { id: added.id })).toEqual(added)
    expect(await refused('taskman_task_get', { id: 'xyz' })).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'task_not_found',
      fix: { operation: 'taskman_task_list' },
    })
    expect(await refused('taskman_task_get')).toMatchObject(wrongFields('id'))
  })

  test('TM-059 TM-062 the answer is bare JSON, or one line for each field with the title first', async () => {
    const { plan, printed, get } = await openPlan()
    const id = await plan('Draw', { description: 'Every screen', role: 'project-designer' })
    const dependency = await plan('Think')
    const task = await get(id)
    expect(await printed('taskman_task_get', { id })).toEqual([JSON.stringify(task)])
    expect(await printed('taskman_task_get', { id, format: 'json' })).toEqual([JSON.stringify(task)])
    const [text = ''] = await printed('taskman_task_get', { id, format: 'text' })
    expect(text.split('\n').slice(0, 4)).toEqual([
      'title: Draw',
      'description: Every screen',
      'status: to_do',
      'role: project-designer',
    ])
    expect(text.split('\n')).toEqual(expect.arrayContaining([`id: ${id}`, 'phase_id: P1', 'milestone_id: ']))
    expect(await printed('taskman_task_add', { title: 'X', phase: 'P1', format: 'text' })).toEqual([
      expect.stringMatching(/^title: X\n/),
    ])
    expect(await printed('taskman_task_get', { id: dependency, format: 'text' })).toHaveLength(1)
  })
})

describe('taskman_task_edit', () => {
  test('TM-067 TM-068 only what is given changes', async () => {
    const { call, plan, edit, get } = await openPlan()
    await call('taskman_milestone_add', { id: 'M1', phase: 'P1' })
    const id = await plan('Draw', { description: 'Every screen' })
    const changes = { title: 'Sketch', role: 'developer', milestone: 'M1', 'sort-order': 3 }
    const edited = await edit(id, changes)
    expect(edited).toMatchObject({
      title: 'Sketch',
      description: 'Every screen',
      role: 'developer',
      milestone_id: 'M1',
      sort_order: 3,
      status: 'to_do',
    })
    expect(await edit(id, { description: 'Two screens' })).toMatchObject({
      title: 'Sketch',
      description: 'Two screens',
    })
    expect((await get(id)).updated_at >= edited.updated_at).toBe(true)
  })

  test('TM-068 a field is cleared by naming it; null and "" leave it', async () => {
    const { call, plan, edit } = await openPlan()
    await call('taskman_milestone_add', { id: 'M1', phase: 'P1' })
    const full = { description: 'Every screen', role: 'developer', milestone: 'M1', 'sort-order': 3 }
    const id = await plan('Draw', full)
    const kept = { description: 'Every screen', role: 'developer', milestone_id: 'M1', sort_order: 3 }
    expect(await edit(id, { description: null, role: '', milestone: null, 'sort-order': '' })).toMatchObject(
      kept,
    )
    expect(await edit(id, { clear: ['milestone'] })).toMatchObject({ ...kept, milestone_id: null })
    expect(await edit(id, { clear: ['description', 'role', 'sort-order'] })).toMatchObject({
      description: null,
      role: null,
      milestone_id: null,
      sort_order: null,
    })
  })

  test('moving to another phase leaves the milestone behind, unless one of that phase is named', async () => {
    const { call, plan, edit, refused } = await openPlan()
    await call('taskman_phase_add', { id: 'P2', name: 'Build' })
    await call('taskman_milestone_add', { id: 'M1', phase: 'P1' })
    await call('taskman_milestone_add', { id: 'M2', phase: 'P2' })
    const id = await plan('Draw', { milestone: 'M1' })
    expect(await refused('taskman_task_edit', { id, milestone: 'M2' })).toMatchObject({
      code: 'CONFLICT',
      reason: 'milestone_of_other_phase',
    })
    expect(await edit(id, { phase: 'P2', milestone: 'M2' })).toMatchObject({
      phase_id: 'P2',
      milestone_id: 'M2',
    })
    expect(await edit(id, { phase: 'P1' })).toMatchObject({ phase_id: 'P1', milestone_id: null })
  })

  test('TM-067 with nothing given it prints nothing; what is unknown is an error', async () => {
    const { plan, printed, refused } = await openPlan()
    const id = await plan('Draw')
    expect(await printed('taskman_task_edit', { id })).toEqual([''])
    expect(await printed('taskman_task_edit', { id, format: 'text' })).toEqual([''])
    expect(await refused('taskman_task_edit', { id: 'xyz' })).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'task_not_found',
      fix: { operation: 'taskman_task_list' },
    })
    expect(await refused('taskman_task_edit', { id, milestone: 'M9' })).toMatchObject(notFound('milestone'))
    expect(await refused('taskman_task_edit', { id, phase: 'P9' })).toMatchObject(notFound('phase'))
    expect(await refused('taskman_task_edit', { id, status: 'open?' })).toMatchObject(wrongFields('status'))
    expect(await refused('taskman_task_edit', { id, clear: ['title'] })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'input_invalid',
      details: { fields: ['clear.0'] },
    })
  })

  test('other words for a status that agents use are understood', async () => {
    const { plan, edit } = await openPlan()
    const id = await plan('Draw')
    expect(await edit(id, { status: 'In Progress' })).toMatchObject({ status: 'in_progress' })
    expect(await edit(id, { status: 'completed' })).toMatchObject({ status: 'done' })
    expect(await edit(id, { status: 'TODO' })).toMatchObject({ status: 'to_do' })
  })
})
