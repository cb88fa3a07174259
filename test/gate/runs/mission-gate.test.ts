import { expect, test } from 'vitest'
import { missionPage } from '../../../src/track/cli/mission.ts'
import { type Answer, openProject, person } from '../../support/project.ts'
import { process } from './processes.ts'
import { driving, failureOf, projectWith, writeProcess } from './run.ts'
import { type GatedMission, gatedMission } from './subject.ts'

const open = () => gatedMission(process('gate'), 'gate')

function end(
  { project, missionId }: Pick<GatedMission, 'project' | 'missionId'>,
  more: object = {},
  actor?: typeof person,
) {
  const input = { mission_id: missionId, status: 'completed', summary: 'Done.', ...more }
  return project.call('complete_mission', input, ...(actor ? [{ actor }] : []))
}

async function another({ project, missionId }: GatedMission, process_id = 'gate') {
  const { run_id } = await project.call('state_gate_create_run', { process_id, mission_id: missionId })
  return driving(project, run_id)
}

test('a run that failed does not open its mission’s gate; another run that succeeds does', async () => {
  const mission = await open()
  await mission.run.emit('abandon')
  expect(await failureOf(end(mission))).toMatchObject({
    code: 'REFUSED',
    message: `Cannot complete mission ${mission.missionId}: run ${mission.run.id} of process gate, which gates it, failed in "abandoned".`,
    hint: expect.stringContaining('state_gate_create_run { process_id: "gate", mission_id:'),
  })
  const again = await another(mission)
  const next = expect.stringContaining(`complete_mission { mission_id: "${mission.missionId}"`)
  expect(await again.emit('go')).toMatchObject({ status: 'succeeded', next })
  expect(await end(mission)).toMatchObject({ status: 'completed', warnings: [] })
})

test('a cancelled run does not open it either, nor does a run of another or a changed process', async () => {
  const mission = await open()
  const { project, run } = mission
  await project.call('run_cancel', { run_id: run.id, reason: 'Wrong.' }, { actor: person })
  const cancelled = expect.stringContaining('was canceled in "work"')
  expect(await failureOf(end(mission))).toMatchObject({ code: 'REFUSED', message: cancelled })
  writeProcess(project, process('easy'))
  expect(await (await another(mission, 'easy')).emit('go')).not.toHaveProperty('next')
  expect(await failureOf(end(mission))).toMatchObject({ message: cancelled })
  writeProcess(project, process('gate', { go: ', description: Easier' }))
  await (await another(mission)).emit('go')
  expect(await failureOf(end(mission))).toMatchObject({ message: cancelled })
})

test('what an agent may say of such a mission: partial or failed; the answer tells what the run came to', async () => {
  const mission = await open()
  await mission.run.emit('abandon')
  expect(await end(mission, { status: 'partial' })).toMatchObject({
    status: 'partial',
    warnings: [expect.stringContaining('failed in "abandoned"')],
  })
})

test('a person may complete it all the same; mission, context, timeline and history say so', async () => {
  const mission = await open()
  const { project, run, missionId } = mission
  await run.emit('abandon')
  const context = { mission_id: missionId, include: ['tasks'] }
  expect((await project.call('get_context', context)).runs).toEqual([
    {
      run_id: run.id,
      process_id: 'gate',
      process_name: 'gate',
      status: 'failed',
      current_state: 'abandoned',
    },
  ])
  await end(mission, { summary: 'Good enough for the demo.' }, person)
  const despite = [expect.stringContaining(`run ${run.id} of process gate`)]
  expect(await project.call('get_context', context)).toMatchObject({ completed_despite: despite })
  expect(await project.call('show', { id: missionId })).toMatchObject({
    status: 'COMPLETED',
    runs: [{ status: 'failed' }],
    completed_despite: despite,
  })
  expect(await project.call('mission_timeline', { id: missionId })).toMatchObject({
    completed_despite: despite,
  })
  const { events } = await project.call('log', { limit: 5 })
  expect(events.findLast(({ kind }: Answer) => kind === 'mission.ended')).toMatchObject({
    actor_kind: 'person',
    body: { despiteRuns: [run.id] },
  })
})

test('a phase of the mission is not completed by an agent after such a run', async () => {
  const mission = await open()
  await mission.run.emit('abandon')
  const task = await mission.start({ phase: 1, phase_name: 'Build' })
  expect(await failureOf(mission.complete(task, { phase_complete: true }))).toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining('failed in "abandoned"'),
  })
  expect(await mission.complete(task)).toMatchObject({ phase_status: 'in_progress' })
})

test('an agent does not end a phase around its gate by editing it; a person may', async () => {
  const mission = await open()
  const { project, run } = mission
  const task = await mission.start({ phase: 1, phase_name: 'Build' })
  await mission.complete(task)
  const { phases } = await project.call('taskman_phase_list', { mission: mission.missionId })
  const editing = { id: phases[0].id, status: 'done' }
  expect(await failureOf(project.call('taskman_phase_edit', editing))).toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining(`its run ${run.id} of process gate is in "work"`),
  })
  await project.call('taskman_phase_edit', { id: phases[0].id, name: 'Builds', status: 'in_progress' })
  await run.emit('abandon')
  expect(await failureOf(project.call('taskman_phase_edit', editing))).toMatchObject({
    message: expect.stringContaining('failed in "abandoned"'),
  })
  expect(await project.call('taskman_phase_edit', editing, { actor: person })).toMatchObject({
    status: 'done',
  })
})

test('a run of a task that was dropped is not asked for any more', async () => {
  const mission = await open()
  const { project } = mission
  await mission.run.emit('go')
  const task_id = await mission.start()
  const { run_id } = await project.call('state_gate_create_run', { process_id: 'gate', task_id })
  await driving(project, run_id).emit('abandon')
  await mission.complete(task_id, { status: 'failed' })
  expect(await failureOf(end(mission))).toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining(run_id),
  })
  await project.call('task_drop', { id: task_id, reason: 'Not needed.' })
  expect(await end(mission)).toMatchObject({ status: 'completed' })
})

test('an agent is sent to a person where only people can move the run', async () => {
  const text = process('gate').replaceAll('[agent, reviewer]', '[reviewer]')
  const refused = await failureOf(end(await gatedMission(text, 'gate')))
  expect(refused).toMatchObject({ code: 'REFUSED', reason: 'run_not_finished' })
  expect(refused.hint).toContain('waymark inbox')
  expect(refused.hint).not.toContain('state_gate_emit_event')
  const open = await failureOf(end(await gatedMission(process('gate'), 'gate')))
  expect(open.hint).toContain('state_gate_emit_event')
})

test('the run of a task keeps a phase open that belongs to no mission', async () => {
  const project = await openProject()
  writeProcess(project, process('gate'))
  await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  const { id } = await project.call('taskman_task_add', { title: 'Build it', phase: 'P1' })
  const { run_id } = await project.call('state_gate_create_run', { process_id: 'gate', task_id: id })
  const run = driving(project, run_id)
  const phase = async () => (await project.call('taskman_phase_list')).phases[0].status
  const editing = { id: 'P1', status: 'done' }

  // The last task of the phase is done, and its run is not.
  await project.call('start_task', { planned_task_id: id })
  project.write('src/built.ts', 'export {}\n')
  const outcome = { summary: 'Built src/built.ts.' }
  await project.call('complete_task', { task_id: id, status: 'success', outcome })
  expect(await phase()).toBe('in_progress')
  expect(await failureOf(project.call('taskman_phase_edit', editing))).toMatchObject({
    code: 'REFUSED',
    reason: 'run_not_finished',
  })
  await run.emit('abandon')
  expect(await failureOf(project.call('taskman_phase_edit', editing))).toMatchObject({
    code: 'REFUSED',
    reason: 'run_not_successful',
  })
  const again = await project.call('state_gate_create_run', { process_id: 'gate', task_id: id })
  await driving(project, again.run_id).emit('go')
  await project.call('taskman_phase_edit', editing)
  expect(await phase()).toBe('done')
})

test('an ended mission is gated again when a person sends a task back', async () => {
  const project = await projectWith([
    process('gate', {
      go: ', payload_schema: { type: object, properties: { seen: { type: string } } }',
    }).replace('to: done', 'to: done, merge_payload: true'),
  ])
  const { mission_id, run } = await project.call('start_mission', {
    name: 'Sign in',
    objective: 'People can sign in',
    process_id: 'gate',
    process_context: { risk: 'low' },
  })
  const mission = { project, missionId: mission_id, run: driving(project, run.run_id) }
  const { task_id } = await project.call('start_task', { mission_id, name: 'Build', areas: ['src/'] })
  project.write('src/built.ts', 'export {}\n')
  const outcome = { summary: 'Built src/built.ts.' }
  await project.call('complete_task', { task_id, status: 'success', outcome })
  expect(await mission.run.emit('go', { payload: { seen: 'yes' } })).toMatchObject({ status: 'succeeded' })
  await end(mission)

  const asPerson = { actor: person }
  const { content } = await project.call('review_show', { task: task_id }, asPerson)
  const sending = { subject: { task: task_id }, action: 'send_back', text: 'Add a test.', content }
  const { notes } = await project.call('review_send', sending, asPerson)
  const { runs } = await project.call('state_gate_list_runs', { mission_id })
  expect(runs).toMatchObject([{ status: 'active', current_state: 'work' }])
  const again = driving(project, runs[0].run_id)
  expect(notes).toContain(
    `Mission ${mission_id} had ended. It is open again. Run ${again.id} of process gate gates it from now on.`,
  )
  expect(await again.state()).toMatchObject({ context: { risk: 'low' } })
  expect((await again.state()).context).not.toHaveProperty('seen')
  const shown = await project.call('show', { id: mission_id })
  expect(shown.phase_summary).toMatchObject([{ status: 'IN_PROGRESS' }])
  const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() } as never
  const claim = 'The one who completed it before it was opened again claims:'
  expect(missionPage(shown as never, page)).toContain(claim)

  await project.call('start_task', { planned_task_id: task_id })
  await project.call('complete_task', { task_id, status: 'success', outcome })
  expect(await failureOf(end(mission))).toMatchObject({ code: 'REFUSED', reason: 'run_not_finished' })
  await again.emit('go')
  expect(await end(mission)).toMatchObject({ status: 'completed' })
})
