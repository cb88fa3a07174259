import { expect, test } from 'vitest'
import { openProject, wrongFields } from '../support/project.ts'

const plan = [
  { step: '1', goal: 'Installer NextAuth v5' },
  { step: '2', goal: 'Configurer routes API' },
  { step: '3', goal: 'Migrer callbacks' },
]

test('MC1-010 MC1-003 MC1-008 MC1-009 the seed’s example makes a workflow', async () => {
  const project = await openProject()
  const answer = await project.call('start_workflow', {
    name: 'Migration NextAuth v5',
    description: 'Migrer de NextAuth v4 vers v5 avec nouveaux callbacks',
    plan,
  })
  expect(answer.workflow_id).toMatch(/^w-/)
  expect(Date.parse(answer.created_at)).not.toBeNaN()
  expect(answer.planned_tasks).toEqual(
    plan.map((step) => ({ ...step, task_id: expect.stringMatching(/^t-/) })),
  )
})

test('MC1-006 MC1-007 each step of the plan becomes a planned task; one without step or goal is refused', async () => {
  const project = await openProject()
  const { workflow_id, planned_tasks } = await project.call('start_workflow', { name: 'a', plan })
  const { tasks } = await project.call('get_context', { mission_id: workflow_id, include: ['tasks'] })
  expect(tasks.map((task: { status: string }) => task.status)).toEqual(['TO_DO', 'TO_DO', 'TO_DO'])
  const started = await project.call('start_task', { planned_task_id: planned_tasks[0].task_id })
  expect(started).toMatchObject({ task_id: planned_tasks[0].task_id, phase_id: null })
  expect(await project.refused('start_workflow', { name: 'a', plan: [{ step: '1' }] })).toMatchObject(
    wrongFields('plan.0.goal'),
  )
  expect(await project.refused('start_workflow', { name: 'a', plan: [{ goal: 'g' }] })).toMatchObject(
    wrongFields('plan.0.step'),
  )
})

test('MC1-004 MC1-005 only the name is required; the description is kept', async () => {
  const project = await openProject()
  const { workflow_id } = await project.call('start_workflow', {
    name: 'Full auth system',
    description: 'All',
  })
  expect(await project.call('show', { id: workflow_id })).toMatchObject({
    name: 'Full auth system',
    description: 'All',
  })
  await project.call('start_workflow', { name: 'Full auth system' })
  expect(await project.refused('start_workflow')).toMatchObject(wrongFields('name'))
})

test('MC2-124 a workflow is no mission: it has no objective, no profile and no phases', async () => {
  const project = await openProject()
  const { workflow_id } = await project.call('start_workflow', { name: 'a' })
  expect(await project.call('show', { id: workflow_id })).toMatchObject({
    kind: 'workflow',
    objective: null,
    profile: null,
    phase_summary: [],
  })
})

test('a workflow ends by itself with its last step, and goes on when another task begins', async () => {
  const project = await openProject()
  const { workflow_id, planned_tasks } = await project.call('start_workflow', {
    name: 'a',
    plan: plan.slice(0, 2),
  })
  const status = async () => (await project.call('show', { id: workflow_id })).status
  for (const [index, { task_id }] of planned_tasks.entries()) {
    expect(await status()).toBe(index === 0 ? 'PENDING' : 'IN_PROGRESS')
    await project.call('start_task', { planned_task_id: task_id })
    await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
  }
  expect(await status()).toBe('COMPLETED')
  const { task_id } = await project.call('start_task', { workflow_id, name: 'One more', goal: 'g' })
  expect(await status()).toBe('IN_PROGRESS')
  await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
  await project.call('complete_mission', {
    mission_id: workflow_id,
    status: 'completed',
    summary: 'All done',
  })
  expect(await project.refused('start_task', { workflow_id, name: 'Late', goal: 'g' })).toMatchObject({
    code: 'CONFLICT',
    reason: 'mission_ended',
  })
})
