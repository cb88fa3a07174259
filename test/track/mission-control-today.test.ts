import { expect, test } from 'vitest'
import { notFound, openProject, wrongFields } from '../support/project.ts'

async function begun() {
  const project = await openProject()
  const workflow = await project.call('start_workflow', {
    name: 'Auth',
    objective: 'JWT for the API',
    profile: 'simple',
    scope: 'Backend only',
  })
  const phase = { workflow_id: workflow.workflow_id, number: 1, name: 'Design', is_parallel: true }
  return { project, workflow, phase }
}

test('an orchestrator of Mission Control leads a workflow from its phases to its end', async () => {
  const { project, workflow, phase } = await begun()
  expect(workflow).toMatchObject({ objective: 'JWT for the API', profile: 'SIMPLE', total_phases: 2 })
  const first = await project.call('start_phase', phase)
  expect(first).toMatchObject({
    workflow_id: workflow.workflow_id,
    number: 1,
    name: 'Design',
    is_parallel: true,
    status: 'IN_PROGRESS',
  })
  expect(await project.call('start_phase', phase)).toMatchObject({
    phase_id: first.phase_id,
    already_exists: true,
  })
  const task = await project.call('start_task', {
    workflow_id: workflow.workflow_id,
    phase_id: first.phase_id,
    caller_type: 'subagent',
    agent_name: 'designer',
    name: 'Draw',
    goal: 'Draw it',
  })
  expect(task).toMatchObject({ phase_id: first.phase_id, phase_created: false, phase_number: 1 })
  const early = await project.call('complete_phase', { phase_id: first.phase_id, status: 'completed' })
  expect(early).toMatchObject({ status: 'COMPLETED', tasks: { total: 1, in_progress: 1 } })
  expect(early.warnings).toEqual([expect.stringContaining('still open')])
  await project.call('complete_task', {
    task_id: task.task_id,
    status: 'success',
    outcome: { summary: 'Drawn.' },
  })
  const context = await project.call('get_context', {
    workflow_id: workflow.workflow_id,
    include: ['phase_summary'],
  })
  expect(context.phase_summary).toMatchObject([{ phase_id: first.phase_id, status: 'COMPLETED' }])
  const end = { workflow_id: workflow.workflow_id, status: 'completed', summary: 'Done.' }
  expect(await project.call('complete_workflow', end)).toMatchObject({
    workflow_id: workflow.workflow_id,
    status: 'completed',
    metrics: { total_tasks: 1 },
  })
  expect(await project.refused('start_phase', { ...phase, number: 2 })).toMatchObject({
    code: 'CONFLICT',
    reason: 'mission_ended',
  })
})

test('a phase ends once, may fail, and what Mission Control keeps of it and Waymark does not is said', async () => {
  const { project, phase } = await begun()
  const { phase_id } = await project.call('start_phase', { ...phase, description: 'Sketches' })
  const failed = await project.call('complete_phase', { phase_id, status: 'failed', summary: 'It broke.' })
  expect(failed).toMatchObject({ status: 'FAILED', warnings: [expect.stringContaining('summary')] })
  expect(await project.call('complete_phase', { phase_id, status: 'failed' })).toMatchObject({
    already_completed: true,
  })
  expect(await project.refused('complete_phase', { phase_id, status: 'completed' })).toMatchObject({
    code: 'CONFLICT',
    reason: 'phase_ended',
    fix: { operation: 'taskman_phase_edit', input: { id: phase_id, status: 'in_progress' } },
  })
  expect(await project.refused('complete_phase', { phase_id: 'ph-none', status: 'failed' })).toMatchObject(
    notFound('phase'),
  )
})

test('a phase id beside another mission or number is a conflict', async () => {
  const { project, phase } = await begun()
  const { phase_id } = await project.call('start_phase', phase)
  const other = await project.call('start_mission', { name: 'Other', objective: 'Else' })
  const task = { name: 'Draw', goal: 'Draw it', phase_id }
  expect(await project.refused('start_task', { ...task, mission_id: other.mission_id })).toMatchObject({
    code: 'CONFLICT',
    reason: 'phase_of_other_mission',
  })
  expect(await project.refused('start_task', { ...task, phase: 2 })).toMatchObject({
    code: 'CONFLICT',
    reason: 'phase_of_other_mission',
  })
  await project.call('taskman_phase_add', { id: 'P1', name: 'Plan' })
  expect(await project.refused('start_task', { ...task, phase_id: 'P1' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'phase_without_mission',
  })
})

test('unknown fields are told once, with the fields there are', async () => {
  const { project } = await begun()
  const said = await project.refused('start_mission', {
    name: 'A',
    objective: 'B',
    priority_level: 1,
    owner_team: 'x',
    zzz: 2,
  })
  expect(said).toMatchObject(wrongFields('priority_level', 'owner_team', 'zzz'))
  expect(said.message.match(/process_context/g)).toHaveLength(1)
})
