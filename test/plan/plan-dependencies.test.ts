import { expect, test } from 'vitest'
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
