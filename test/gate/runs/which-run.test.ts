import { expect, test } from 'vitest'
import { person } from '../../support/project.ts'
import { explorationProcess } from './processes.ts'
import { failureOf, runOf } from './run.ts'

const readers = ['state_gate_get_state', 'state_gate_list_events', 'run_summary', 'run_history'] as const

test('SG-002 run_id may be left out where one run is active', async () => {
  const run = await runOf(explorationProcess)
  for (const reader of readers) {
    expect(await run.project.call(reader)).toMatchObject({ run_id: run.id })
  }
  const emitted = { event_name: 'drop', expected_revision: 1, idempotency_key: 'k' }
  expect(await run.project.call('state_gate_emit_event', emitted)).toMatchObject({ success: true })
})

test('without an active run, and without run_id, the way to one is told', async () => {
  const run = await runOf(explorationProcess)
  await run.emit('drop')
  for (const reader of readers) {
    expect(await failureOf(run.project.call(reader))).toMatchObject({
      code: 'RUN_NOT_FOUND',
      message: 'No run is active, and none was named.',
      hint: expect.stringContaining('state_gate_create_run'),
    })
  }
})

test('with several active runs each is named, and none is chosen', async () => {
  const run = await runOf(explorationProcess)
  const other = await runOf(explorationProcess, { project: run.project })
  for (const reader of readers) {
    const failure = await failureOf(run.project.call(reader))
    expect(failure).toMatchObject({
      code: 'INVALID_INPUT',
      message: '2 runs are active: choose one with run_id.',
    })
    for (const { id } of [run, other]) expect(failure.hint).toContain(id)
  }
  await other.emit('drop')
  expect((await run.project.call('state_gate_get_state')).run_id).toBe(run.id)
})

test('a run is found again by its status, its process and what it gates', async () => {
  const run = await runOf(explorationProcess)
  const { project } = run
  const mission = await project.call('start_mission', {
    name: 'n',
    objective: 'o',
    process_id: 'exploration-process',
  })
  await run.emit('drop')
  const idsOf = async (filter: object) => {
    const { runs } = await project.call('state_gate_list_runs', filter)
    return runs.map(({ run_id }: { run_id: string }) => run_id)
  }
  expect(await idsOf({})).toEqual([mission.run.run_id])
  expect(await idsOf({ status: 'failed' })).toEqual([run.id])
  expect(await idsOf({ status: 'all' })).toEqual([mission.run.run_id, run.id])
  expect(await idsOf({ mission_id: mission.mission_id })).toEqual([mission.run.run_id])
  expect(await idsOf({ process_id: 'feature', status: 'all' })).toEqual([])
})

test('a run is found by the end of its id, as it is shown, and an ambiguous beginning names the runs', async () => {
  const run = await runOf(explorationProcess)
  const other = await runOf(explorationProcess, { project: run.project })
  const shown = (id: string) => `run-${id.slice(-8)}`
  for (const reader of readers) {
    expect(await run.project.call(reader, { run_id: shown(run.id) })).toMatchObject({ run_id: run.id })
  }
  expect(
    await run.project.call('run_cancel', { run_id: shown(run.id), reason: 'Not now' }, { actor: person }),
  ).toMatchObject({
    run_id: run.id,
  })
  const { reason, message } = await run.project.refused('state_gate_get_state', { run_id: 'run-' })
  expect({ reason, names: [run.id, other.id].every((id) => message.includes(id)) }).toEqual({
    reason: 'short_id_ambiguous',
    names: true,
  })
})

test('a phase may be named like the beginning of an id', async () => {
  const { project } = await runOf(explorationProcess)
  const { mission_id } = await project.call('start_mission', { name: 'n', objective: 'o' })
  const id = mission_id.slice(0, 4)
  expect(await project.call('taskman_phase_add', { id, name: 'First' })).toMatchObject({ id })
  expect(await project.call('taskman_phase_edit', { id, name: 'Second' })).toMatchObject({ id })
})
