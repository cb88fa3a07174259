import { describe, expect, test } from 'vitest'
import { notFound, openProject, person, wrongFields } from '../support/project.ts'
import { shared } from '../support/shared.ts'

const done = { status: 'success', outcome: { summary: 's' } }

const all = ['decisions', 'milestones', 'blockers', 'phase_summary', 'tasks']
const decision = { category: 'other', question: 'q', chosen: 'c', reasoning: 'r' }

/** Two phases by two agents: the first completed, the second running. */
const midway = shared(async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  const first = await project.call('start_task', {
    mission_id,
    phase: 1,
    phase_name: 'Setup',
    name: 'a',
    agent_name: 'one',
  })
  await project.call('log_decision', { task_id: first.task_id, ...decision, question: 'In phase 1?' })
  await project.call('log_milestone', { task_id: first.task_id, message: 'From one' })
  project.wait(1_200_000)
  await project.call('complete_task', {
    task_id: first.task_id,
    status: 'success',
    outcome: { summary: 's' },
    phase_complete: true,
  })
  const between = new Date(project.context.clock.now() + 1).toISOString()
  project.wait(1000)
  const second = await project.call('start_task', { mission_id, phase: 2, name: 'b', agent_name: 'two' })
  await project.call('log_decision', { task_id: second.task_id, ...decision, question: 'In phase 2?' })
  await project.call('log_issue', {
    task_id: second.task_id,
    type: 'other',
    description: 'Stuck',
    resolution: 'none',
    requires_human_review: true,
  })
  const context = (include: readonly string[], more: object = {}) =>
    project.call('get_context', { mission_id, include, ...more })
  return { project, mission_id, first, second, between, context }
})

test('MC2-038 MC2-039 MC2-040 MC2-041 where the mission stands, with its phases in order', async () => {
  const { context, mission_id } = await midway()
  expect(await context(['phase_summary'])).toMatchObject({
    mission_id,
    mission_name: 'Auth',
    mission_status: 'IN_PROGRESS',
    current_phase: 2,
    total_phases: 3,
    phase_summary: [
      {
        phase_number: 1,
        name: 'Setup',
        status: 'COMPLETED',
        tasks_count: 1,
        // And as long as the calls took.
        duration_seconds: expect.toSatisfy((seconds: number) => seconds >= 1200 && seconds < 1260),
      },
      { phase_number: 2, name: 'Phase 2', status: 'IN_PROGRESS', tasks_count: 1, duration_seconds: 0 },
    ],
  })
})

test('MC2-034 MC2-045 the answer has the sections asked for, and no others', async () => {
  const { context, project, mission_id } = await midway()
  for (const section of all) {
    const answer = await context([section])
    expect(all.filter((name) => name in answer)).toEqual([section])
  }
  expect(await project.refused('get_context', { mission_id, include: [] })).toMatchObject(
    wrongFields('include'),
  )
  expect(await project.refused('get_context', { mission_id })).toMatchObject(wrongFields('include'))
  expect(await project.refused('get_context', { mission_id, include: ['plans'] })).toMatchObject(
    wrongFields('include.0'),
  )
})

test('MC2-043 MC2-044 MC2-046 the seed’s example restricted to phase 2', async () => {
  const { context, second } = await midway()
  const answer = await context(['phase_summary', 'blockers', 'decisions'], { filter: { phase: 2 } })
  expect(answer.phase_summary).toHaveLength(2)
  expect(answer.decisions).toMatchObject([{ question: 'In phase 2?' }])
  expect(answer.blockers).toMatchObject([{ description: 'Stuck', task_id: second.task_id }])
  const rest = await context(['milestones', 'tasks', 'blockers'], { filter: { phase: 1 } })
  expect(rest).toMatchObject({ milestones: [{ message: 'From one' }], tasks: [{ name: 'a' }], blockers: [] })
})

describe('MC2-035 MC2-036 MC2-037 filters', () => {
  test('by a phase that the mission does not have: nothing', async () => {
    const { context } = await midway()
    expect(await context(['tasks', 'decisions'], { filter: { phase: 9 } })).toMatchObject({
      tasks: [],
      decisions: [],
    })
  })

  test('by agent', async () => {
    const { context } = await midway()
    expect(await context(['decisions', 'milestones', 'tasks'], { filter: { agent: 'two' } })).toMatchObject({
      decisions: [{ question: 'In phase 2?' }],
      milestones: [],
      tasks: [{ name: 'b' }],
    })
  })

  test('by time; a time that is none is refused', async () => {
    const { context, between, project, mission_id } = await midway()
    const since = { filter: { since: between } }
    expect(await context(['decisions'], since)).toMatchObject({
      decisions: [{ question: 'In phase 2?' }],
      decisions_total: 1,
    })
    const wrong = { mission_id, include: ['tasks'], filter: { since: 'yesterday' } }
    expect(await project.refused('get_context', wrong)).toMatchObject(wrongFields('filter.since'))
  })
})

test('MC2-032 MC2-033 a query changes nothing; an unknown mission is not found', async () => {
  const { project, context } = await midway()
  const before = (await project.context.store.health()).seq
  await context(all)
  expect((await project.context.store.health()).seq).toBe(before)
  const unknown = { mission_id: 'm-nowhere', include: ['tasks'] }
  expect(await project.refused('get_context', unknown)).toMatchObject({
    ...notFound('mission'),
    fix: { operation: 'list_missions' },
  })
})

describe('MC2-003 answers stay small', () => {
  test('whatever the mission has, and paging shows all of it once', async () => {
    const project = await openProject({ git: false })
    const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
    const { task_id } = await project.call('start_task', { mission_id, name: 'a', goal: 'g' })
    for (let n = 0; n < 60; n += 1) {
      await project.call('log_decision', { task_id, ...decision, question: `${n} ${'why? '.repeat(100)}` })
      await project.call('log_milestone', { task_id, message: `${n} ${'step '.repeat(50)}` })
    }
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const answer = await project.call('get_context', {
        mission_id,
        include: ['decisions', 'milestones'],
        cursor,
      })
      expect(JSON.stringify(answer).length).toBeLessThan(8_000)
      expect(answer).toMatchObject(cursor === null ? { decisions_total: 60, milestones_total: 60 } : {})
      for (const entry of answer.decisions ?? []) seen.push(entry.question.split(' ')[0])
      cursor = answer.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual(Array.from({ length: 60 }, (_, n) => String(59 - n)))
  })

  test('also with long words, many phases and long answers to blockers', async () => {
    const project = await openProject({ git: false })
    const long = 'lorem ipsum '.repeat(1000)
    const { mission_id } = await project.call('start_mission', {
      name: 'Long',
      objective: long,
      description: long,
      scope: long,
      constraints: long,
      total_phases: 26,
    })
    for (let phase = 1; phase <= 26; phase += 1) {
      const phase_name = `Phase ${phase} ${'x'.repeat(280)}`
      const { task_id } = await project.call('start_task', { mission_id, phase, phase_name, name: 'a' })
      if (phase <= 5) {
        const issue = { type: 'other', description: long, resolution: long, requires_human_review: true }
        const { issue_id } = await project.call('log_issue', { task_id, ...issue })
        await project.call('resolve', { id: issue_id, answer: long }, { actor: person })
      }
      await project.call('complete_task', { task_id, ...done, phase_complete: phase < 13 })
    }
    const include = ['phase_summary', 'tasks', 'blockers', 'decisions', 'milestones']
    const answer = await project.call('get_context', { mission_id, include })
    expect(JSON.stringify(answer).length).toBeLessThan(8_000)
    expect(answer).toMatchObject({ current_phase: 13, phase_summary_total: 26 })
    const numbers = answer.phase_summary.map(({ phase_number }: { phase_number: number }) => phase_number)
    expect(numbers).toContain(13)
    const brief = await project.call('show', { id: mission_id, brief: true })
    expect(JSON.stringify(brief).length).toBeLessThan(9_000)
  })

  test('a limit is taken as asked', async () => {
    const { context } = await midway()
    const page = await context(['decisions'], { limit: 1 })
    expect(page.decisions).toHaveLength(1)
    const rest = await context(['decisions'], { limit: 1, cursor: page.next_cursor })
    expect(rest).toMatchObject({ decisions: [{ question: 'In phase 1?' }], next_cursor: null })
  })
})

test('a cursor of other lists is refused', async () => {
  const { project, mission_id } = await midway()
  const wrong = { mission_id, include: ['tasks'], cursor: 'decisions:4' }
  expect(await project.refused('get_context', wrong)).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'cursor_invalid',
  })
})
