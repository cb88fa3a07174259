import { describe, expect, test } from 'vitest'
import { type Answer, person, troubles } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

const promises = {
  criteria: ['At most 5 attempts'],
  check: ['npm test', { run: 'make e2e', pinned: ['e2e/'], timeout: '20m' }],
  changes: ['src/**'],
  keeps: ['package.json'],
}

describe('a task promises when it is done', () => {
  test('in plan_tasks, task_add and start_task, and shows it', async () => {
    const { call, get, plan } = await openPlan({ git: true })
    const tasks = [{ key: 'a', title: 'A', phase: 'P1', done_when: promises }]
    const [{ id }] = (await call('plan_tasks', { tasks })).tasks
    expect(await get(id)).toMatchObject({ done_when: promises })
    expect(await call('show', { id })).toMatchObject({ done_when: promises, own_done_when: promises })
    const added = await plan('B', { done_when: { changes: [] }, criterion: ['Works'], check: 'npm test' })
    expect((await get(added)).done_when).toEqual({ criteria: ['Works'], check: ['npm test'], changes: [] })
    const started = await call('start_task', { name: 'C', goal: 'C', done_when: { keeps: 'LICENSE' } })
    expect(started.done_when).toEqual({ keeps: ['LICENSE'] })
    expect(troubles(await call('doctor'))).toEqual([])
  })

  test('and nothing is shown for a task without promises', async () => {
    const { call, get, plan } = await openPlan({ git: true })
    const id = await plan('A', { done_when: {} })
    expect(await get(id)).not.toHaveProperty('done_when')
    expect(await call('show', { id })).toMatchObject({ done_when: null, own_done_when: null })
    expect(await call('start_task', { planned_task_id: id })).not.toHaveProperty('done_when')
  })

  test('with those of its mission and project, which get_context repeats while it is open', async () => {
    const { call } = await openPlan({ git: true })
    const value = JSON.stringify({ check: ['npm test'], keeps: ['LICENSE'] })
    await call('setting_set', { name: 'done_when', value }, { actor: person })
    const mission = { name: 'M', objective: 'O', done_when: { criteria: ['Documented'] } }
    const { mission_id } = await call('start_mission', mission)
    const done_when = { check: ['npm run lint'] }
    const { task_id } = await call('start_task', { mission_id, name: 'A', goal: 'A', done_when })
    const whole = { criteria: ['Documented'], check: ['npm test', 'npm run lint'], keeps: ['LICENSE'] }
    expect(await call('show', { id: task_id })).toMatchObject({ done_when: whole, own_done_when: done_when })
    const { tasks } = await call('get_context', { mission_id, include: ['tasks'] })
    expect(tasks).toMatchObject([{ id: task_id, done_when: whole }])
    const alone = { name: 'B', goal: 'B', mission_id, done_when: { inherit: false, criteria: ['B'] } }
    const left_out = [
      { list: 'criteria', text: 'Documented' },
      { list: 'check', text: 'npm test' },
      { list: 'keeps', text: 'LICENSE' },
    ]
    expect((await call('start_task', alone)).done_when).toEqual({ criteria: ['B'], left_out })
    const asPerson = { actor: person }
    expect((await call('start_task', { ...alone, name: 'C' }, asPerson)).done_when).toEqual({
      criteria: ['B'],
    })
    expect((await call('show', { id: mission_id })).done_when).toEqual(mission.done_when)
  })

  test('and refuses what it cannot read, with the place', async () => {
    const { call, refused } = await openPlan()
    const tasks = [{ key: 'a', title: 'A', phase: 'P1', done_when: { check: [{ run: 'x', timeout: '2' }] } }]
    expect(await refused('plan_tasks', { tasks })).toMatchObject({
      reason: 'plan_invalid',
      message: expect.stringContaining('task "a": done_when.check[0].timeout cannot be "2"'),
    })
    const bad = { title: 'A', phase: 'P1', done_when: { changes: ['../x'] } }
    expect(await refused('taskman_task_add', bad)).toMatchObject({ reason: 'done_when_invalid' })
    expect((await call('taskman_task_list')).total).toBe(0)
    for (const value of ['{"check": [1]}', '{"check"']) {
      const set = { name: 'done_when', value }
      expect(await refused('setting_set', set, { actor: person })).toMatchObject({
        code: 'INVALID_INPUT',
        reason: 'done_when_invalid',
      })
    }
  })
})

describe('editing the promises of a task', () => {
  test('replaces the given lists, adds flags, and clears', async () => {
    const { edit, get, plan } = await openPlan()
    const id = await plan('A', { done_when: promises })
    await edit(id, { done_when: { criteria: ['Other'] }, check: ['npm run lint'] })
    expect((await get(id)).done_when).toEqual({
      ...promises,
      criteria: ['Other'],
      check: [...promises.check, 'npm run lint'],
    })
    await edit(id, { clear: ['done_when.changes', 'done_when.check'], done_when: { keeps: ['LICENSE'] } })
    expect((await get(id)).done_when).toEqual({ criteria: ['Other'], keeps: ['LICENSE'] })
    await edit(id, { clear: ['done-when'], criterion: ['New'] })
    expect((await get(id)).done_when).toEqual({ criteria: ['New'] })
    await edit(id, { clear: ['done-when'] })
    expect(await get(id)).not.toHaveProperty('done_when')
  })

  test('an agent may only add once the task has started; a person may remove, and that stays visible', async () => {
    const { call, edit, get, plan, refused } = await openPlan({ git: true })
    const id = await plan('A', { done_when: promises })
    await call('start_task', { planned_task_id: id, done_when: { criteria: ['Another'] } })
    const fixed = { code: 'REFUSED', reason: 'done_when_fixed', details: { task_id: id } }
    expect(await refused('taskman_task_edit', { id, done_when: { check: [] } })).toMatchObject(fixed)
    for (const clear of ['done-when', 'done_when.keeps'])
      expect(await refused('taskman_task_edit', { id, clear: [clear] })).toMatchObject(fixed)
    expect(await refused('start_task', { planned_task_id: id, done_when: { changes: [] } })).toMatchObject(
      fixed,
    )
    await edit(id, { check: ['npm run lint'] })
    expect((await get(id)).done_when).toMatchObject({
      criteria: [...promises.criteria, 'Another'],
      check: [...promises.check, 'npm run lint'],
    })
    await edit(id, { done_when: { criteria: ['Another'] } }, person)
    const { done_when } = await call('show', { id })
    expect(done_when).toMatchObject({
      criteria: ['Another'],
      removed: [{ list: 'criteria', text: promises.criteria[0], author: person.name }],
    })
    expect(troubles(await call('doctor'))).toEqual([])
  })
})

describe('promises travel with a plan', () => {
  test('through an export and its import', async () => {
    const { call, plan } = await openPlan()
    await plan('A', { done_when: promises })
    const exported = await call('plan_export')
    expect(exported.tasks).toMatchObject([{ done_when: promises }])
    const other = await openPlan()
    other.write('plan.json', JSON.stringify(exported))
    await other.call('plan_import', { file: 'plan.json' })
    const { tasks } = await other.call('taskman_task_list')
    expect(tasks.map(({ done_when }: Answer) => done_when)).toEqual([promises])
  })

  test('and are refused with their place', async () => {
    const { refused, write } = await openPlan()
    const tasks = [{ key: 'a', title: 'A', done_when: { check: [{ run: '' }] } }]
    write('plan.json', JSON.stringify({ waymark_plan: 1, phases: [], milestones: [], tasks }))
    expect(await refused('plan_import', { file: 'plan.json' })).toMatchObject({
      reason: 'plan_invalid',
      message: expect.stringContaining('done_when.check[0].run cannot be ""'),
    })
  })

  test('acceptance criteria of Markdown and Task Master become criteria', async () => {
    const { call, get, write } = await openPlan()
    write(
      'plan.md',
      '# P1\n\n- [ ] Login #login\n  Show a form.\n  Acceptance criteria:\n  - At most 5 attempts\n  - A message\n',
    )
    const foreign = { id: 1, title: 'Pay', status: 'pending', acceptanceCriteria: '- Works\n- Is fast' }
    const prose = { id: 2, title: 'Ship', status: 'pending', acceptanceCriteria: 'It works.' }
    write('tasks.json', JSON.stringify({ tasks: [foreign, prose] }))
    await call('plan_import', { file: 'plan.md' })
    await call('plan_import', { file: 'tasks.json' })
    const { tasks } = await call('taskman_task_list')
    expect(
      Object.fromEntries(tasks.map(({ title, done_when = null }: Answer) => [title, done_when])),
    ).toEqual({
      Login: { criteria: ['At most 5 attempts', 'A message'] },
      Pay: { criteria: ['Works', 'Is fast'] },
      Ship: null,
    })
    const login = tasks.find(({ title }: Answer) => title === 'Login')
    expect((await get(login.id)).description).toBe('Show a form.')
  })
})
