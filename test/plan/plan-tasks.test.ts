import { expect, test } from 'vitest'
import { type Answer, notFound, troubles } from '../support/project.ts'
import { agentNamed, openEmpty } from './plan-project.ts'

const six = {
  phases: [{ id: 'D', name: 'Design' }, { name: 'Build' }],
  tasks: [
    { key: 'draw', title: 'Draw', phase: 'D', areas: ['docs/'], description: 'Every screen' },
    { key: 'api', title: 'Describe the API', phase: 'design', depends_on: ['draw'] },
    { key: 'cart', title: 'Cart', phase: 'Build', depends_on: ['api', 'draw'], role: 'developer' },
    { key: 'pay', title: 'Pay', phase: 'Build', depends_on: ['cart', 'api'] },
    { key: 'test', title: 'Test', phase: 'Build', depends_on: ['pay', 'cart'], assignee: 'qa-engineer' },
    { key: 'ship', title: 'Ship', phase: 'Build', depends_on: ['test'] },
  ],
}

async function openMission() {
  const project = await openEmpty({ git: true })
  const { mission_id } = await project.call('start_mission', { name: 'Shop', objective: 'Sell' })
  return { ...project, mission_id: mission_id as string }
}

const idsOf = (answer: Answer) =>
  Object.fromEntries(answer.tasks.map(({ key, id }: Answer) => [key, id])) as Record<string, string>

test('one call plans six tasks with eight dependencies in two phases', async () => {
  const { call, mission_id } = await openMission()
  const planned = await call('plan_tasks', { mission_id, ...six })
  expect(planned.tasks.map(({ key, ready }: Answer) => [key, ready])).toEqual([
    ['draw', true],
    ['api', false],
    ['cart', false],
    ['pay', false],
    ['test', false],
    ['ship', false],
  ])
  const ids = idsOf(planned)
  expect((await call('taskman_phase_list', { mission: mission_id })).phases).toMatchObject([
    { id: 'D', number: 1, name: 'Design' },
    { id: expect.stringMatching(/^ph-/), number: 2, name: 'Build' },
  ])
  expect(await call('taskman_task_get', { id: ids['cart'] })).toMatchObject({
    mission_id,
    role: 'developer',
    depends_on: [ids['api'], ids['draw']],
    blocked: true,
  })
  expect(await call('taskman_task_list', { mission: mission_id, ready: true })).toMatchObject({
    total: 1,
    tasks: [{ id: ids['draw'], description: 'Every screen' }],
  })
  expect(troubles(await call('doctor'))).toEqual([])
})

test('what was planned is one transaction: its log entries follow each other', async () => {
  const { call, context, mission_id } = await openMission()
  const before = await context.store.view((reads) => reads.eventLog.head())
  await call('plan_tasks', { mission_id, ...six })
  expect(await context.store.view((reads) => reads.eventLog.head())).toBe(before + 2 + 6 + 8)
})

test('a task may wait for one that there is, in a phase that there is', async () => {
  const { call, mission_id } = await openMission()
  const ids = idsOf(await call('plan_tasks', { mission_id, ...six }))
  const more = await call('plan_tasks', {
    mission_id,
    phases: [{ name: 'BUILD' }],
    tasks: [{ key: 'more', title: 'More', phase: 'Build', depends_on: [ids['draw']] }],
  })
  expect(more.tasks).toMatchObject([{ key: 'more', ready: false }])
  expect((await call('taskman_phase_list')).total).toBe(2)
  await call('taskman_task_edit', { id: ids['draw'], status: 'done' })
  const last = { key: 'last', title: 'Last', phase: 'D', depends_on: [ids['draw']] }
  expect((await call('plan_tasks', { mission_id, tasks: [last] })).tasks).toMatchObject([{ ready: true }])
})

test('everything that is wrong is told at once, and nothing is planned', async () => {
  const { call, refused, mission_id } = await openMission()
  await call('taskman_phase_add', { id: 'D', name: 'Elsewhere' })
  const said = await refused('plan_tasks', {
    mission_id,
    phases: [{ id: 'D', name: 'Design' }, { name: 'Build' }],
    tasks: [
      { key: 'a', title: 'A', phase: 'Build', depends_on: ['b'] },
      { key: 'b', title: 'B', phase: 'Build', depends_on: ['a'] },
      { key: 'b', title: 'B again', phase: 'Nowhere' },
      { key: 'c', title: 'C', phase: 'Build', depends_on: ['zz'], role: 'wizard' },
    ],
  })
  expect(said).toMatchObject({ code: 'INVALID_INPUT', reason: 'plan_invalid' })
  expect(said.hint).toContain('phases: [{ name }] creates a phase')
  expect(said.details?.['problems']).toHaveLength(6)
  for (const words of [
    'phase already exists: D "Elsewhere": take "D-2"',
    'key "b" is given twice',
    'task "b": phase not found: Nowhere',
    'task "c": unknown role: wizard',
    'task "c" depends on "zz", which is neither a key here nor a task',
    'circular dependency: a → b → a',
  ])
    expect(String(said.details?.['problems'])).toContain(words)
  expect((await call('taskman_task_list')).total).toBe(0)
  expect((await call('taskman_phase_list')).total).toBe(1)
})

test('taskman_task_add takes dependencies, areas and an assignee; start_task inherits the areas', async () => {
  const { call, refused } = await openEmpty({ git: true })
  await call('taskman_phase_add', { id: 'P1', name: 'Design' })
  const first = await call('taskman_task_add', { title: 'First', phase: 'P1', areas: ['src/api/'] })
  const second = await call('taskman_task_add', {
    title: 'Second',
    phase: 'P1',
    depends_on: [first.id],
    assignee: 'mara',
  })
  expect(second).toMatchObject({ depends_on: [first.id], blocked: true, assignee: 'mara' })
  expect((await call('plan_show')).phases[0].tasks[1]).toMatchObject({ title: 'Second', assignee: 'mara' })
  expect(await call('taskman_task_get', { id: second.id })).toMatchObject(second)
  const input = { title: 'Third', phase: 'P1', depends_on: ['t-nowhere'] }
  expect(await refused('taskman_task_add', input)).toMatchObject(notFound('task'))
  expect((await call('start_task', { planned_task_id: first.id })).areas).toMatchObject([
    { area: 'src/api/' },
  ])
})

test('an assigned task is offered to its assignee only, and taken by others with force', async () => {
  const { call, refused } = await openEmpty({ git: true })
  await call('taskman_phase_add', { id: 'P1', name: 'Design' })
  const { id } = await call('taskman_task_add', { title: 'Paint', phase: 'P1', assignee: 'mara' })
  expect((await call('taskman_task_next', { agent_name: 'otto' })).task).toBeNull()
  expect((await call('taskman_task_next', { agent_name: 'mara' })).task.id).toBe(id)
  expect((await call('taskman_task_next', {}, { actor: agentNamed('mara') })).task.id).toBe(id)
  const begin = { planned_task_id: id, agent_name: 'otto' }
  expect(await refused('start_task', begin)).toMatchObject({
    code: 'REFUSED',
    reason: 'task_assigned_to_other',
    fix: { operation: 'taskman_task_next', input: { role: 'mara' } },
  })
  expect((await call('start_task', { ...begin, force: true })).warnings.join()).toContain(
    'The task is for mara; otto took it with force.',
  )
})

test('a task assigned to a role is for whoever asks with that role', async () => {
  const { call } = await openEmpty({ git: true })
  await call('taskman_phase_add', { id: 'P1', name: 'Design' })
  const { id } = await call('taskman_task_add', { title: 'Try', phase: 'P1', assignee: 'qa-engineer' })
  expect((await call('taskman_task_next', { role: 'developer' })).task).toBeNull()
  const { task, claim } = await call('taskman_task_next', {
    role: 'qa-engineer',
    claim: true,
    agent_name: 'mara',
  })
  expect(task.id).toBe(id)
  const begin = { planned_task_id: id, claim_token: claim.token, agent_name: 'mara' }
  expect(await call('start_task', begin)).toMatchObject({ task_id: id })
})

test('without a role, what is for anybody comes first; then next says which role the task wants', async () => {
  const { call } = await openEmpty({ git: true })
  await call('taskman_phase_add', { id: 'P1', name: 'Design' })
  const wanted = await call('taskman_task_add', { title: 'Test', phase: 'P1', role: 'qa-engineer' })
  const anybody = await call('taskman_task_add', { title: 'Any', phase: 'P1' })
  const first = await call('taskman_task_next')
  expect([first.task.id, first.message]).toEqual([anybody.id, undefined])
  await call('taskman_task_edit', { id: anybody.id, status: 'done' })
  expect(await call('taskman_task_next')).toMatchObject({
    task: { id: wanted.id },
    message: 'It needs the role qa-engineer.',
  })
})

test('where nothing is ready, the figures say why, and which filter finds something', async () => {
  const { call, mission_id } = await openMission()
  expect((await call('taskman_task_next')).message).toBe(
    'No task is ready. No task is planned in an open mission or in the project’s own plan.',
  )
  const ids = idsOf(
    await call('plan_tasks', {
      mission_id,
      phases: [{ name: 'Build' }],
      tasks: [
        { key: 'a', title: 'A', phase: 'Build' },
        { key: 'b', title: 'B', phase: 'Build', depends_on: ['a'] },
        { key: 'c', title: 'C', phase: 'Build', depends_on: ['a'] },
        { key: 'd', title: 'D', phase: 'Build', assignee: 'qa-engineer' },
      ],
    }),
  )
  await call('taskman_task_next', { claim: true, agent_name: 'worker-c' })
  const { task, message } = await call('taskman_task_next', { agent_name: 'worker-b' })
  expect(task).toBeNull()
  expect(message).toBe(
    `No task is ready. Of 4 tasks, 2 wait for ${ids['a']} (in progress), 1 is claimed by worker-c, 1 is for qa-engineer. ` +
      `taskman_task_next { role: "qa-engineer" } finds ${ids['d']}.`,
  )
  const own = await call('taskman_task_next', { mission: 'none', role: 'qa-engineer' })
  expect(own.message).toContain(`mission: "${mission_id}" } finds ${ids['d']}`)
})
