import { describe, expect, test } from 'vitest'
import { awakeTime } from '../support/awake-time.ts'
import { type Answer, openProject, person, wrongFields } from '../support/project.ts'

const asPerson = { actor: person }

/** A task that failed once, and waits for another one that is done. */
async function failedOnce() {
  const project = await openProject()
  const { call } = project
  const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
  await call('taskman_phase_add', { id: 'P1', name: 'Build', mission: mission_id })
  const plan = async (title: string, more: object = {}) =>
    (await call('taskman_task_add', { title, phase: 'P1', ...more })).id as string
  const base = await plan('Cookies')
  const id = await plan('Log in', { description: 'People log in with a cookie.' })
  await call('taskman_task_dep_add', { 'task-id': id, 'dep-id': base })
  await call('start_task', { planned_task_id: base, agent_name: 'lead', areas: ['src'] })
  project.write('src/cookies.ts', 'export const cookies = 1\n')
  await call('complete_task', { task_id: base, status: 'success', outcome: { summary: 'Cookies are set.' } })
  await call('start_task', { planned_task_id: id, agent_name: 'worker', areas: ['src/login'] })
  project.write('src/login/index.ts', 'export const login = 1\n')
  await call('log_issue', { task_id: id, type: 'bug_encountered', description: 'Slow', resolution: 'Cached' })
  await call('log_issue', {
    task_id: id,
    type: 'unclear_requirement',
    description: 'Which realm?',
    requires_human_review: true,
  })
  const outcome = {
    summary: 'The library drops cookies.',
    limitations: ['Only Chrome was tried.'],
    next_steps: ['Write the header by hand.'],
  }
  await call('complete_task', { task_id: id, status: 'failed', outcome })
  return { project, call, mission_id: mission_id as string, base, id }
}

const learned = {
  agent: 'worker',
  status: 'failed',
  summary: 'The library drops cookies.',
  limitations: ['Only Chrome was tried.'],
  next_steps: ['Write the header by hand.'],
  files: ['src/login/index.ts'],
}

describe('whoever takes a failed task again', () => {
  test('is told by start_task what it is about, what it builds on, and what was learned', async () => {
    const { call, base, id } = await failedOnce()
    const started = await call('start_task', { planned_task_id: id, agent_name: 'second' })
    expect(started).toMatchObject({
      goal: 'People log in with a cookie.',
      phase: { id: 'P1', name: 'Build' },
      depends_on: [
        {
          id: base,
          title: 'Cookies',
          status: 'success',
          summary: 'Cookies are set.',
          files: ['src/cookies.ts'],
        },
      ],
      previous_attempts: [learned],
      waits_for: [{ kind: 'blocker', question: 'Which realm?' }],
    })
  })

  test('reads the same before, in taskman_task_get, with what was added after the end', async () => {
    const { call, id, base } = await failedOnce()
    await call('complete_task', { task_id: id, correction: 'Firefox drops them too.' })
    expect(await call('taskman_task_get', { id })).toMatchObject({
      depends_on: [base],
      dependencies: [{ id: base, summary: 'Cookies are set.' }],
      previous_attempts: [{ ...learned, corrections: [{ text: 'Firefox drops them too.' }] }],
      waits_for: [{ kind: 'blocker' }],
    })
  })

  test('is not told more of a task that nobody tried', async () => {
    const { call } = await failedOnce()
    const { id } = await call('taskman_task_add', { title: 'Docs', phase: 'P1' })
    const task = await call('taskman_task_get', { id })
    expect(Object.keys(task)).not.toEqual(expect.arrayContaining(['previous_attempts']))
    expect(await call('start_task', { planned_task_id: id })).toMatchObject({
      depends_on: [],
      previous_attempts: [],
      waits_for: [],
    })
  })
})

describe('get_context', () => {
  test('of tasks: goal, claim, dependencies, the last summary, how often tried, files', async () => {
    const { call, mission_id, base, id } = await failedOnce()
    await call('start_task', { planned_task_id: id, agent_name: 'second' })
    const { tasks } = await call('get_context', { mission_id, include: ['tasks'] })
    expect(tasks).toMatchObject([
      {
        id,
        goal: 'People log in with a cookie.',
        depends_on: [base],
        blocked: false,
        claim: { agent: 'second', expires_at: null },
        attempts: 2,
        summary: 'The library drops cookies.',
        files: ['src/login/index.ts'],
      },
      { id: base, summary: 'Cookies are set.', files: ['src/cookies.ts'] },
    ])
  })

  test('of issues: those that block nobody', async () => {
    const { call, mission_id, id } = await failedOnce()
    const { issues, issues_total } = await call('get_context', { mission_id, include: ['issues'] })
    expect(issues).toMatchObject([
      { task_id: id, type: 'BUG', description: 'Slow', resolution: 'Cached', agent_name: 'worker' },
    ])
    expect(issues_total).toBe(1)
  })

  test('since is the last change: an answer to an old question is seen', async () => {
    const { project, call, mission_id } = await failedOnce()
    const look = (since: string) =>
      call('get_context', { mission_id, include: ['blockers', 'tasks', 'issues'], filter: { since } })
    project.wait(5_000)
    const time = new Date(project.context.clock.now()).toISOString()
    project.wait(5_000)
    const { as_of } = await call('get_context', { mission_id, include: ['blockers'] })
    expect(await look(as_of)).toMatchObject({ tasks: [], issues: [] })
    expect(await look(as_of)).not.toHaveProperty('answered_blockers')
    const [{ item_id }] = (await call('inbox')).items
    await call('resolve', { id: item_id, answer: 'The public one.' }, asPerson)
    for (const since of [as_of, time]) {
      expect((await look(since)).answered_blockers).toMatchObject([
        { resolved: { answer: 'The public one.' } },
      ])
    }
  })
})

describe('waiting instead of asking again and again', () => {
  const look = (mission_id: string, more: object) => ({ mission_id, include: ['blockers'], ...more })

  test('returns at the first change of a section that was asked for, and not at another', async () => {
    const { call, mission_id } = await failedOnce()
    const other = (await call('start_mission', { name: 'Other', objective: 'o' })).mission_id
    const { as_of } = await call('get_context', look(mission_id, {}))
    const waiting: Promise<Answer> = call('get_context', look(mission_id, { wait_seconds: 30, since: as_of }))
    const took = awakeTime(waiting)
    await call('start_task', { mission_id: other, name: 'Elsewhere', areas: [] })
    await call('start_task', { mission_id, name: 'Docs', areas: [] })
    expect(await Promise.race([waiting, soon(600)])).toBe('soon')
    const [{ item_id }] = (await call('inbox')).items
    await call('resolve', { id: item_id, answer: 'The public one.' }, asPerson)
    expect((await waiting).answered_blockers).toMatchObject([{ item_id }])
    expect(await took).toBeLessThan(29_000)
  })

  test('returns at once where it has happened since, also by a time and by a change to the plan', async () => {
    const { call, mission_id, project } = await failedOnce()
    const { as_of } = await call('get_context', look(mission_id, {}))
    const time = new Date(project.context.clock.now()).toISOString()
    await call('taskman_task_add', { title: 'Docs', phase: 'P1' })
    for (const since of [as_of, time]) {
      const wait = { include: ['tasks'], wait_seconds: 30, filter: { since } }
      const waiting: Promise<Answer> = call('get_context', look(mission_id, wait))
      expect(await awakeTime(waiting)).toBeLessThan(29_000)
      expect(await waiting).not.toHaveProperty('objective')
    }
  })

  test('ends after the time that was asked for, with the context as it is', async () => {
    const { call, mission_id } = await failedOnce()
    const began = performance.now()
    const answer = await call('get_context', look(mission_id, { wait_seconds: 1 }))
    expect(performance.now() - began).toBeGreaterThanOrEqual(990)
    expect(answer.blockers).toHaveLength(1)
  })

  test('more than 50 seconds and a since that is no time are refused', async () => {
    const { project, mission_id } = await failedOnce()
    expect(await project.refused('get_context', look(mission_id, { wait_seconds: 51 }))).toMatchObject(
      wrongFields('wait_seconds'),
    )
    expect(await project.refused('get_context', look(mission_id, { since: 'lately' }))).toMatchObject(
      wrongFields('since'),
    )
  })
})

function soon(milliseconds: number): Promise<'soon'> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds, 'soon')
  })
}
