import { expect, test } from 'vitest'
import { explorationProcess } from './processes.ts'
import { runOf, type TestRun } from './run.ts'

/** Sends exactly this, and answers the whole. */
function send({ project, id }: TestRun, input: object) {
  return project.call('state_gate_emit_event', { run_id: id, ...input })
}

const plan = {
  event_name: 'submit_experiment_plan',
  payload: { plan: 'p' },
  artifact_paths: ['docs/experiment.md'],
  expected_revision: 1,
  idempotency_key: 'plan-1',
}

async function planned() {
  const run = await runOf(explorationProcess)
  run.project.write('docs/experiment.md', 'The plan.')
  return { run, first: await send(run, plan) }
}

test('SG-037 SG-055 a repeated event is answered with the stored result, also when the run moved on or has ended', async () => {
  const { run, first } = await planned()
  const replay = {
    success: true,
    result: { ...first.result, replayed: true },
    info: { code: 'IDEMPOTENT_REPLAY', message: expect.stringContaining(first.result.event_id) },
  }
  expect(await send(run, plan)).toEqual(replay)
  run.project.write('evidence/a.md', 'Seen.')
  await run.emit('submit_observation', { payload: { findings: 'f' }, artifact_paths: ['evidence/a.md'] })
  expect(await send(run, plan)).toEqual(replay)
  run.project.remove('docs/experiment.md')
  await run.emit('drop')
  expect(await send(run, plan)).toEqual(replay)
  const { events } = await run.history()
  expect(events).toHaveLength(3)
})

test('a repeat counts whatever revision it expects, and however its payload’s keys are ordered', async () => {
  const run = await runOf(explorationProcess)
  run.project.write('docs/experiment.md', 'The plan.')
  const first = await send(run, { ...plan, payload: { plan: 'p', more: 1 } })
  const again = await send(run, { ...plan, payload: { more: 1, plan: 'p' }, expected_revision: 7 })
  expect(again.result).toEqual({ ...first.result, replayed: true })
})

test.each([
  ['event', { event_name: 'drop' }],
  ['payload', { payload: { plan: 'other' } }],
  ['files', { artifact_paths: [] }],
])('the same key with another %s is IDEMPOTENCY_KEY_REUSED', async (_, other) => {
  const { run } = await planned()
  const again = { ...plan, ...other, expected_revision: 2 }
  expect(await run.refused(again.event_name, again)).toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
    reason: 'idempotency_key_reused',
    message: expect.stringContaining(`"plan-1" of run ${run.id} was used`),
  })
  expect(await run.state()).toMatchObject({ revision: 2, current_state: 'observe' })
})

test('a refused event binds no key: the same key counts once what was missing is there', async () => {
  const run = await runOf(explorationProcess)
  const sent = { ...plan, artifact_paths: [] }
  expect(await run.refused(plan.event_name, sent)).toMatchObject({ code: 'GUARD_FAILED' })
  expect(await run.refused(plan.event_name, plan)).toMatchObject({ code: 'INVALID_PAYLOAD' })
  run.project.write('docs/experiment.md', 'The plan.')
  expect(await run.emit(plan.event_name, plan)).toMatchObject({ state_changed: true, new_revision: 2 })
})

test('the same key in two runs is two events', async () => {
  const { run } = await planned()
  const other = await runOf(explorationProcess, { project: run.project })
  const { result } = await send(other, plan)
  expect(result).toMatchObject({ new_revision: 2 })
  expect(result).not.toHaveProperty('replayed')
})

test('create_run with the same key and input is the same run again', async () => {
  const { run } = await planned()
  const create = (more: object = {}) =>
    run.project.call('state_gate_create_run', {
      process_id: 'exploration-process',
      idempotency_key: 'begin',
      ...more,
    })
  const first = await create()
  expect((await create()).run_id).toBe(first.run_id)
  await expect(create({ context: { team_mode: 'pair' } })).rejects.toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
  })
})
