import { expect, test } from 'vitest'
import { type Answer, openProject } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

const own = { mission_id: null, outside: false }

test('the dependencies of a plan are nodes and edges, with what is ready and the longest chain', async () => {
  const { call, plan } = await openPlan()
  const first = await plan('Draw')
  const after = async (title: string, dependency: string): Promise<string> => {
    const id = await plan(title)
    await call('taskman_task_dep_add', { 'task-id': id, 'dep-id': dependency })
    return id
  }
  const second = await after('Build', first)
  const third = await after('Ship', second)
  const aside = await after('Tidy', first)
  const { phases, nodes, edges } = await call('plan_dependencies')
  expect(phases).toEqual([{ id: 'P1', name: 'Design' }])
  expect(nodes).toEqual([
    { id: first, title: 'Draw', phase_id: 'P1', mark: 'ready', critical: true, ...own },
    { id: second, title: 'Build', phase_id: 'P1', mark: 'blocked', critical: true, ...own },
    { id: third, title: 'Ship', phase_id: 'P1', mark: 'blocked', critical: true, ...own },
    { id: aside, title: 'Tidy', phase_id: 'P1', mark: 'blocked', critical: false, ...own },
  ])
  expect(edges).toEqual([
    { from: first, to: second, critical: true },
    { from: second, to: third, critical: true },
    { from: first, to: aside, critical: false },
  ])
})

test('a plan in which no task depends on another has no critical path', async () => {
  const { call, plan } = await openPlan()
  const [first, second] = [await plan('Draw'), await plan('Build')]
  const paths = async () => [
    (await call('plan_show')).critical_path,
    (await call('plan_show', { phase: 'P1' })).critical_path,
  ]
  expect(await paths()).toEqual([[], []])
  await call('taskman_task_dep_add', { 'task-id': second, 'dep-id': first })
  expect(await paths()).toEqual([
    [first, second],
    [first, second],
  ])
})

test('the dependencies of a mission have all its tasks, also those that nothing ties and those begun unplanned', async () => {
  const { call } = await openProject()
  const { mission_id } = await call('start_mission', { name: 'Shop', objective: 'o' })
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  await call('plan_tasks', {
    mission_id,
    phases: [{ name: 'Build' }],
    tasks: keys.map((key) => ({
      key,
      title: key,
      phase: 'Build',
      ...(key === 'b' && { depends_on: ['a'] }),
    })),
  })
  await call('start_task', { name: 'i', goal: 'g', mission_id, phase: 2 })
  const { nodes, edges } = await call('plan_dependencies', { mission: mission_id })
  expect(nodes.map(({ title }: { readonly title: string }) => title).sort()).toEqual([...keys, 'i'])
  expect(edges).toHaveLength(1)
  const { text } = await call('plan_graph', { mission: mission_id })
  expect(text.match(/\bt\d+\[/g)).toHaveLength(9)
})

test('the dependencies of a mission name the tasks outside it that it waits for and that wait for it', async () => {
  const { call } = await openProject()
  const missionOf = async (name: string): Promise<string> =>
    (await call('start_mission', { name, objective: 'o' })).mission_id
  const [shop, site] = [await missionOf('Shop'), await missionOf('Site')]
  const planned = async (mission_id: string, keys: readonly string[]): Promise<readonly string[]> => {
    const tasks = keys.map((key) => ({ key, title: key, phase: 'Build' }))
    const answer = await call('plan_tasks', { mission_id, phases: [{ name: 'Build' }], tasks })
    return answer.tasks.map(({ id }: Answer) => id)
  }
  const [cart = '', pay = ''] = await planned(shop, ['cart', 'pay'])
  const [logo = '', font = '', page = '', far = ''] = await planned(site, ['logo', 'font', 'page', 'far'])
  const wait = (id: string, on: string) => call('taskman_task_dep_add', { 'task-id': id, 'dep-id': on })
  await wait(cart, logo)
  await wait(pay, font)
  await wait(page, pay)
  await wait(far, page)
  await call('taskman_task_edit', { id: logo, status: 'done' })

  const { nodes, edges } = await call('plan_dependencies', { mission: shop })
  const others = { mission_id: site, phase_id: null, critical: false, outside: true }
  expect(nodes.slice(0, 2)).toMatchObject([
    { id: cart, mark: 'ready', outside: false, mission_id: shop },
    { id: pay, mark: 'blocked', outside: false, mission_id: shop },
  ])
  expect(nodes.slice(2)).toEqual([
    { id: logo, title: 'logo', mark: 'done', ...others },
    { id: font, title: 'font', mark: 'ready', ...others },
    { id: page, title: 'page', mark: 'blocked', ...others },
  ])
  expect(edges).toEqual([
    { from: logo, to: cart, critical: false },
    { from: font, to: pay, critical: false },
    { from: pay, to: page, critical: false },
  ])
  const { phases } = await call('plan_show', { mission: shop })
  expect(phases.flatMap(({ tasks }: Answer) => tasks.map(({ mark }: Answer) => mark))).toEqual([
    'ready',
    'blocked',
  ])
})

test('the dependencies of a mission have the tasks of the project’s plan that its agents worked on', async () => {
  const { call, plan } = await openPlan()
  const [cart, pay, ship] = [await plan('cart'), await plan('pay'), await plan('ship')]
  await call('taskman_task_dep_add', { 'task-id': pay, 'dep-id': cart })
  await call('taskman_task_dep_add', { 'task-id': ship, 'dep-id': pay })
  const { mission_id } = await call('start_mission', { name: 'Shop', objective: 'Sell' })
  const input = { mission_id, phase: 1, phase_name: 'Build' }
  await call('start_task', { ...input, name: 'own', areas: ['src/'] })
  await call('start_task', { ...input, planned_task_id: cart })

  const { phases, nodes, edges } = await call('plan_dependencies', { mission: mission_id })
  expect(nodes).toMatchObject([
    { title: 'own', outside: false },
    { id: cart, mark: 'in_progress', outside: false, phase_id: 'P1' },
    { id: pay, mark: 'blocked', outside: true, phase_id: null },
  ])
  expect(edges).toMatchObject([{ from: cart, to: pay }])
  expect(phases.map(({ name }: Answer) => name)).toEqual(['Build', 'Design'])
})
