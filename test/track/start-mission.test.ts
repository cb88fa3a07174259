import { describe, expect, test } from 'vitest'
import { openProject, wrongFields } from '../support/project.ts'

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

test('MC2-017 MC2-013 MC2-014 MC2-015 MC2-016 the seed’s example call answers id, profile, phases and time', async () => {
  const project = await openProject()
  const answer = await project.call('start_mission', {
    name: 'Auth System Implementation',
    objective: 'Add JWT-based authentication with role-based access',
    profile: 'standard',
    scope: 'Backend auth only, no UI changes',
    constraints: 'Must use existing user table',
  })
  expect(answer).toEqual({
    mission_id: expect.stringMatching(/^m-[0-9a-hjkmnp-tv-z]{12}$/),
    profile: 'STANDARD',
    total_phases: 3,
    created_at: expect.stringMatching(iso),
  })
})

test('a mission with the name of an open one starts with a warning that names it', async () => {
  const project = await openProject()
  const start = () => project.call('start_mission', { name: 'Discounts', objective: 'x' })
  const first = await start()
  const second = await start()
  expect(second.warnings).toEqual([expect.stringContaining(first.mission_id)])
  for (const { mission_id } of [first, second])
    await project.call('complete_mission', { mission_id, status: 'failed', summary: 'x' })
  expect(await start()).not.toHaveProperty('warnings')
})

test('MC2-005 MC2-006 name and objective are required texts', async () => {
  const project = await openProject()
  expect(await project.refused('start_mission', { objective: 'x' })).toMatchObject(wrongFields('name'))
  expect(await project.refused('start_mission', { name: 'x' })).toMatchObject(wrongFields('objective'))
  expect(await project.refused('start_mission', { name: ['x'], objective: 'y' })).toMatchObject(
    wrongFields('name'),
  )
})

test('MC2-007 MC2-011 MC2-012 description, scope and constraints are optional and kept', async () => {
  const project = await openProject()
  const said = { description: 'All of it', scope: 'Backend only', constraints: 'Same table' }
  const { mission_id } = await project.call('start_mission', { name: 'a', objective: 'b', ...said })
  expect(await project.call('show', { id: mission_id })).toMatchObject(said)
  const bare = await project.call('start_mission', { name: 'a', objective: 'b' })
  const nothing = { description: null, scope: null, constraints: null }
  expect(await project.call('show', { id: bare.mission_id })).toMatchObject(nothing)
})

test('its agents get what its author asks: the constraints with each task, all of it with the context', async () => {
  const project = await openProject()
  const said = { description: 'All of it', scope: 'Backend only', constraints: 'No new dependencies' }
  const { mission_id } = await project.call('start_mission', { name: 'a', objective: 'b', ...said })
  const { constraints } = said
  const started = await project.call('start_task', { mission_id, name: 'One', goal: 'g' })
  expect(started).toMatchObject({ constraints })
  const phases = [{ id: 'P1', name: 'Build' }]
  const tasks = [{ key: 'k', title: 'Two', phase: 'P1' }]
  const [planned] = (await project.call('plan_tasks', { mission_id, phases, tasks })).tasks
  expect(await project.call('start_task', { planned_task_id: planned.id })).toMatchObject({ constraints })
  const context = await project.call('get_context', { mission_id, include: ['tasks'] })
  expect(context).toMatchObject(said)
  const later = { mission_id, include: ['tasks'], filter: { since: context.as_of } }
  expect(await project.call('get_context', later)).not.toHaveProperty('constraints')

  const bare = await project.call('start_mission', { name: 'b', objective: 'b' })
  const inBare = await project.call('start_task', { mission_id: bare.mission_id, name: 'Three', goal: 'g' })
  expect(inBare).not.toHaveProperty('constraints')
  expect(await project.call('start_task', { name: 'Four', goal: 'g' })).not.toHaveProperty('constraints')
})

describe('MC2-008 MC2-009 MC2-010 profile and phases', () => {
  test.each([
    ['simple', 2],
    ['standard', 3],
    ['complex', 4],
  ])('MC2-009 the profile %s announces %i phases', async (profile, phases) => {
    const project = await openProject()
    const answer = await project.call('start_mission', { name: 'a', objective: 'b', profile })
    expect(answer).toMatchObject({ profile: profile.toUpperCase(), total_phases: phases })
  })

  test('MC2-010 total_phases wins over the profile; no profile is standard', async () => {
    const project = await openProject()
    const answer = await project.call('start_mission', { name: 'a', objective: 'b', total_phases: 7 })
    expect(answer).toMatchObject({ profile: 'STANDARD', total_phases: 7 })
  })

  test('MC2-008 an unknown profile is refused with the choices', async () => {
    const project = await openProject()
    const refused = await project.refused('start_mission', { name: 'a', objective: 'b', profile: 'huge' })
    expect(refused).toMatchObject({
      ...wrongFields('profile'),
      message: expect.stringContaining('choose simple, standard or complex'),
    })
  })
})

test('MC2-130 a mission is PENDING until its first task, then IN_PROGRESS', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'a', objective: 'b' })
  const status = async () =>
    (await project.call('get_context', { mission_id, include: ['tasks'] })).mission_status
  expect(await status()).toBe('PENDING')
  const { task_id } = await project.call('start_task', { mission_id, name: 't', goal: 'g' })
  expect(await status()).toBe('IN_PROGRESS')
  const issue = { type: 'other', description: 'd', resolution: 'r', requires_human_review: true }
  await project.call('log_issue', { task_id, ...issue })
  expect(await status()).toBe('IN_PROGRESS')
  await project.call('complete_task', { task_id, status: 'failed', outcome: { summary: 's' } })
  expect(await status()).toBe('BLOCKED')
  await project.call('complete_mission', { mission_id, status: 'failed', summary: 's' })
  expect(await status()).toBe('FAILED')
})
