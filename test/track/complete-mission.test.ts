import { describe, expect, test } from 'vitest'
import { agentActor, openProject, person, wrongFields } from '../support/project.ts'

const done = { status: 'success', outcome: { summary: 's' } }

async function mission() {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  return { project, mission_id: mission_id as string }
}

test('MC2-019 MC2-024 MC2-029 MC2-030 what was said is stored and comes back unchanged', async () => {
  const { project, mission_id } = await mission()
  const said = {
    status: 'completed',
    summary: 'Auth system implemented successfully',
    achievements: ['JWT middleware', 'Role-based access', 'Token refresh'],
    limitations: ['OAuth integration deferred'],
  }
  const answer = await project.call('complete_mission', { mission_id, ...said })
  expect(answer).toMatchObject({ mission_id, ...said })
  expect(Date.parse(answer.completed_at)).not.toBeNaN()
  const { status: _, ...words } = said
  expect(await project.call('show', { id: mission_id })).toMatchObject({ ...words, status: 'COMPLETED' })
})

test('who ended a mission is shown, and who ended it again', async () => {
  const { project, mission_id } = await mission()
  const endedBy = async () => [
    (await project.call('show', { id: mission_id })).completed_by,
    (await project.call('mission_timeline', { id: mission_id })).completed_by,
  ]
  const { task_id } = await project.call('start_task', { name: 'Form', mission_id, agent_name: 'mira' })
  await project.call('complete_task', { task_id, ...done })
  expect(await endedBy()).toEqual([null, null])
  const end = { mission_id, status: 'completed', summary: 'Done' }
  await project.call('complete_mission', end, { actor: { ...agentActor, name: 'noor' } })
  expect(await endedBy()).toEqual(['noor', 'noor'])
  const subject = { task: task_id }
  const { content } = await project.call('review_show', subject, { actor: person })
  const sent = { subject, action: 'send_back', text: 'Make it red.', content }
  await project.call('review_send', sent, { actor: person })
  expect(await endedBy()).toEqual([null, null])
  await project.call('complete_mission', end, { actor: person })
  expect(await endedBy()).toEqual([person.name, person.name])
})

test('a mission completed with tasks that nobody has done names them', async () => {
  const { project, mission_id } = await mission()
  const tasks = [
    { key: 'a', title: 'Draw', phase: 'Design' },
    { key: 'b', title: 'Paint', phase: 'Design' },
  ]
  const { tasks: planned } = await project.call('plan_tasks', {
    mission_id,
    phases: [{ name: 'Design' }],
    tasks,
  })
  await project.call('start_task', { planned_task_id: planned[0].id })
  await project.call('complete_task', { task_id: planned[0].id, ...done })
  const { warnings } = await project.call('complete_mission', {
    mission_id,
    status: 'completed',
    summary: 'Drawn',
  })
  const named = warnings.filter((warning: string) => warning.includes(planned[1].id))
  expect(named).toHaveLength(1)
  expect(named[0]).not.toContain(planned[0].id)
})

describe('tasks without proof', () => {
  async function missionOf(names: readonly string[], options: object = {}) {
    const project = await openProject({ explainsNoChange: false, ...options })
    const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
    const ids: string[] = []
    for (const name of names) {
      const { task_id } = await project.call('start_task', { mission_id, name, goal: 'g' })
      if (name.startsWith('Real')) project.write(`src/${name}.ts`, 'export const one = 1\n')
      await project.call('complete_task', { task_id, ...done })
      ids.push(task_id)
    }
    const complete = (status = 'completed') =>
      project.call('complete_mission', { mission_id, status, summary: 's' })
    return { ...project, mission_id, ids, complete }
  }

  test('are counted, and the first three named, contradicted ones first', async () => {
    const { complete, ids } = await missionOf(['Real 1', 'Real 2', 'Empty 3', 'Real 4'])
    const { doubted, status, warnings, waits_for } = await complete()
    expect(status).toBe('completed')
    expect(doubted).toEqual({
      contradicted: 1,
      unproven: 3,
      tasks: [
        { task_id: ids[2], name: 'Empty 3', verdict: 'contradicted' },
        { task_id: ids[0], name: 'Real 1', verdict: 'unproven' },
        { task_id: ids[1], name: 'Real 2', verdict: 'unproven' },
      ],
      next: `waymark review ${ids[2]}`,
    })
    expect(waits_for).toMatchObject([{ kind: 'verdict' }])
    expect(warnings).toHaveLength(2)
    expect(warnings[1]).toContain(doubted.next)
    expect((await complete()).doubted).toEqual(doubted)
  })

  test('are not those that a person accepted, sent back or dropped, or that failed', async () => {
    const { call, complete, ids, mission_id } = await missionOf(['Empty 1', 'Empty 2', 'Empty 3', 'Empty 4'])
    const { items } = await call('inbox', {}, { actor: person })
    const itemOf = (id = '') => items.find((item: { task_id: string }) => item.task_id === id).item_id
    await call('approve', { id: itemOf(ids[0]) }, { actor: person })
    await call('reject', { id: itemOf(ids[1]), reason: 'Do it.' }, { actor: person })
    await call('reject', { id: itemOf(ids[2]), reason: 'No.' }, { actor: person })
    await call('task_drop', { id: ids[2], reason: 'Not needed' }, { actor: person })
    const { task_id } = await call('start_task', { mission_id, name: 'Vain', goal: 'g' })
    await call('complete_task', { task_id, ...done, status: 'failed' })
    expect((await complete()).doubted).toMatchObject({
      contradicted: 1,
      unproven: 0,
      tasks: [{ task_id: ids[3] }],
    })
  })

  test('stay visible wherever the mission is, with what is not done, until they are decided', async () => {
    const { call, complete, ids, mission_id } = await missionOf(['Real 1', 'Empty 2'])
    const as = { actor: person }
    await call('review_send', { subject: { task: ids[0] }, action: 'send_back', text: 'Again' }, as)
    const vain = await call('start_task', { mission_id, name: 'Vain', goal: 'g' })
    await call('complete_task', { task_id: vain.task_id, ...done, status: 'failed' })
    const { tasks: planned } = await call('plan_tasks', {
      mission_id,
      phases: [{ name: 'Later' }],
      tasks: [{ key: 'a', title: 'Never begun', phase: 'Later' }],
    })
    const shown = async () => [
      (await call('list_missions', { status: 'ended' })).missions[0].left,
      (await call('get_context', { mission_id, include: ['blockers'] })).left,
      (await call('show', { id: mission_id })).left,
      (await call('mission_timeline', { id: mission_id })).left,
      (await call('status')).completed_with_work_left[0]?.left,
    ]
    const left = { not_done: 3, to_do_again: 1, contradicted: 1 }
    expect((await complete()).left).toEqual(left)
    expect(await shown()).toEqual(Array(5).fill(left))
    for (const id of [ids[0], vain.task_id, planned[0].id])
      await call('task_drop', { id, reason: 'Enough' }, as)
    const { items } = await call('inbox', { mission_id }, as)
    await call('approve', { id: items[0].item_id }, as)
    expect(await shown()).toEqual(Array(5).fill(undefined))
  })

  test('are none where nothing was done', async () => {
    const { complete } = await missionOf([])
    expect(await complete('partial')).not.toHaveProperty('doubted')
  })
})

test('a long report is kept whole and answered short', async () => {
  const { project, mission_id } = await mission()
  const achievements = Array.from({ length: 50 }, () => 'word '.repeat(1000))
  const said = { status: 'completed', summary: 'word '.repeat(3000), achievements }
  const answer = await project.call('complete_mission', { mission_id, ...said })
  expect(JSON.stringify(answer).length).toBeLessThan(8_000)
  expect(await project.call('show', { id: mission_id })).toMatchObject({
    summary: said.summary,
    achievements,
  })
  const again = await project.call('complete_mission', { mission_id, ...said })
  expect(again).toMatchObject({ already_completed: true })
})

test('MC2-025 MC2-026 MC2-027 MC2-028 the metrics are measured, each file counted once', async () => {
  const { project, mission_id } = await mission()
  for (const [phase, content] of [
    [1, 'one\n'],
    [2, 'two\n'],
  ] as const) {
    const { task_id } = await project.call('start_task', { mission_id, phase, name: 'a', goal: 'g' })
    project.write('src/auth.ts', content)
    project.write(`new-${phase}.ts`, content)
    await project.call('complete_task', {
      task_id,
      ...done,
      metadata: { tokens_input: 100, tokens_output: 5 },
    })
  }
  project.wait(3_600_000)
  const { metrics } = await project.call('complete_mission', {
    mission_id,
    status: 'completed',
    summary: 's',
  })
  expect(metrics).toMatchObject({
    total_phases: 2,
    total_tasks: 2,
    files_changed: 3,
    tokens_input: 200,
    tokens_output: 10,
  })
  expect(metrics.total_duration_seconds).toBeGreaterThanOrEqual(3600)
  expect(metrics.total_duration_minutes).toBe(Math.round(metrics.total_duration_seconds / 6) / 10)
})

test('MC2-026 the tasks of the mission are counted, also those that nobody began', async () => {
  const { project, mission_id } = await mission()
  await project.call('plan_tasks', {
    mission_id,
    phases: [{ name: 'Build' }],
    tasks: [{ key: 'p', title: 'Planned', phase: 'Build' }],
  })
  const { task_id } = await project.call('start_task', { mission_id, name: 'a', goal: 'g' })
  await project.call('complete_task', { task_id, ...done })
  const ending = { mission_id, status: 'completed', summary: 's' }
  expect((await project.call('complete_mission', ending)).metrics).toMatchObject({ total_tasks: 2 })
  expect(await project.call('show', { id: mission_id })).toMatchObject({ tasks_total: 2 })
})

describe('MC2-020 MC2-021 MC2-022 MC2-023 input', () => {
  test.each([
    ['completed', 'COMPLETED'],
    ['failed', 'FAILED'],
    ['partial', 'PARTIAL'],
  ])('the status %s, achievements and limitations left out', async (status, shown) => {
    const { project, mission_id } = await mission()
    const answer = await project.call('complete_mission', { mission_id, status, summary: 's' })
    expect(answer).toMatchObject({ status, achievements: [], limitations: [] })
    expect((await project.call('show', { id: mission_id })).status).toBe(shown)
  })

  test('a status that is none, a summary that is missing', async () => {
    const { project, mission_id } = await mission()
    expect(
      await project.refused('complete_mission', { mission_id, status: 'maybe', summary: 's' }),
    ).toMatchObject(wrongFields('status'))
    expect(await project.refused('complete_mission', { mission_id, status: 'failed' })).toMatchObject(
      wrongFields('summary'),
    )
  })
})

describe('open work', () => {
  test('refuses the end and is named', async () => {
    const { project, mission_id } = await mission()
    const { task_id } = await project.call('start_task', { mission_id, name: 'a', agent_name: 'builder' })
    const refused = await project.refused('complete_mission', {
      mission_id,
      status: 'completed',
      summary: 's',
    })
    expect(refused).toMatchObject({ code: 'REFUSED', reason: 'tasks_open' })
    expect(refused.message).toContain(`${task_id} (builder)`)
  })

  test('is abandoned when the mission failed', async () => {
    const { project, mission_id } = await mission()
    const { task_id } = await project.call('start_task', { mission_id, name: 'a', goal: 'g' })
    await project.call('complete_mission', { mission_id, status: 'failed', summary: 's' })
    expect((await project.call('show', { id: task_id })).attempts).toMatchObject([
      { status: 'abandoned', measured: null },
    ])
    expect(await project.refused('complete_task', { task_id, ...done })).toMatchObject({
      code: 'CONFLICT',
      reason: 'attempt_abandoned',
    })
  })
})

describe('completing twice', () => {
  test('with the same words answers the same; with others it is refused', async () => {
    const { project, mission_id } = await mission()
    const first = await project.call('complete_mission', { mission_id, status: 'completed', summary: 's' })
    const again = await project.call('complete_mission', { mission_id, status: 'completed', summary: 's' })
    expect(again).toEqual({ ...first, already_completed: true })
    const other = { mission_id, status: 'failed', summary: 's' }
    expect(await project.refused('complete_mission', other)).toMatchObject({
      code: 'CONFLICT',
      reason: 'mission_already_completed',
    })
  })

  test('a task cannot slip in after the end', async () => {
    const { project, mission_id } = await mission()
    const outcomes = await Promise.allSettled([
      project.call('complete_mission', { mission_id, status: 'completed', summary: 's' }),
      project.call('start_task', { mission_id, name: 'a', goal: 'g' }),
    ])
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  })
})

test('MC2-131 the statuses of a phase: IN_PROGRESS, COMPLETED, and FAILED with its mission', async () => {
  const { project, mission_id } = await mission()
  const statuses = async () => {
    const { phase_summary } = await project.call('get_context', { mission_id, include: ['phase_summary'] })
    return phase_summary.map(({ status }: { status: string }) => status)
  }
  const first = await project.call('start_task', { mission_id, phase: 1, name: 'a', goal: 'g' })
  await project.call('complete_task', { task_id: first.task_id, ...done, phase_complete: true })
  await project.call('start_task', { mission_id, phase: 2, name: 'b', goal: 'g' })
  expect(await statuses()).toEqual(['COMPLETED', 'IN_PROGRESS'])
  await project.call('complete_mission', { mission_id, status: 'failed', summary: 's' })
  expect(await statuses()).toEqual(['COMPLETED', 'FAILED'])
})

test('phases whose tasks are all done end with the mission, others stay open', async () => {
  const { call } = await openProject()
  const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
  const work = async (phase: number, name: string) => {
    const { task_id } = await call('start_task', { mission_id, name, phase })
    await call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
  }
  await work(1, 'Cookies')
  await work(2, 'Forms')
  await call('taskman_phase_list', { mission: mission_id }).then(async ({ phases }) =>
    call('taskman_task_add', { title: 'Later', phase: phases[1].id }),
  )
  await call('complete_mission', { mission_id, status: 'completed', summary: 's' })
  const { phase_summary } = await call('get_context', { mission_id, include: ['phases'] })
  expect(phase_summary.map(({ status }: { readonly status: string }) => status)).toEqual([
    'COMPLETED',
    'IN_PROGRESS',
  ])
})
