import { expect, test } from 'vitest'
import { openProject } from '../support/project.ts'
import { openPlan } from './plan-project.ts'

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
    { id: first, title: 'Draw', phase_id: 'P1', mark: 'ready', critical: true },
    { id: second, title: 'Build', phase_id: 'P1', mark: 'blocked', critical: true },
    { id: third, title: 'Ship', phase_id: 'P1', mark: 'blocked', critical: true },
    { id: aside, title: 'Tidy', phase_id: 'P1', mark: 'blocked', critical: false },
  ])
  expect(edges).toEqual([
    { from: first, to: second, critical: true },
    { from: second, to: third, critical: true },
    { from: first, to: aside, critical: false },
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
