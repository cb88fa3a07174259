import { expect, test } from 'vitest'
import { emitEvent } from '../../../src/gate/operations/run/emit-event.ts'
import { invoke } from '../../../src/kernel/operations/invoke.ts'
import { openStore } from '../../../src/store/store.ts'
import { person, wrongFields } from '../../support/project.ts'
import { explorationProcess } from './processes.ts'
import { runOf } from './run.ts'

test('get_state with wait_seconds answers at once when the run is past since_revision already', async () => {
  const run = await runOf(explorationProcess)
  await run.emit('drop')
  const input = { run_id: run.id, since_revision: 1, wait_seconds: 25 }
  expect(await run.project.call('state_gate_get_state', input)).toMatchObject({ revision: 2 })
})

test('get_state with wait_seconds wakes when somebody else moves the run, and tells where it is', async () => {
  const run = await runOf(explorationProcess)
  const { context } = run.project
  const file = `${context.folder}/.waymark/waymark.db`
  const other = openStore({
    file,
    shared: false,
    root: context.folder,
    sandboxJournal: false,
    ids: context.ids,
  })
  try {
    const waiting = run.project.call('state_gate_get_state', {
      run_id: run.id,
      since_revision: 1,
      wait_seconds: 25,
    })
    const drop = { run_id: run.id, event_name: 'drop', expected_revision: 1, idempotency_key: 'k' }
    await invoke(emitEvent, { ...context, store: other }, drop)
    expect(await waiting).toMatchObject({ revision: 2, current_state: 'dropped', status: 'failed' })
  } finally {
    await other.close()
  }
})

test('get_state with wait_seconds ends with the state as it is when nothing happens', async () => {
  const run = await runOf(explorationProcess)
  const input = { run_id: run.id, since_revision: 1, wait_seconds: 1 }
  expect(await run.project.call('state_gate_get_state', input)).toMatchObject({ revision: 1 })
})

test('a refused event wakes nobody, a cancelled run does', async () => {
  const run = await runOf(explorationProcess)
  const input = { run_id: run.id, wait_seconds: 25 }
  let over = false
  const waiting = run.project.call('state_gate_get_state', input).then((state) => {
    over = true
    return state
  })
  await run.refused('submit_synthesis')
  expect(over).toBe(false)
  await run.project.call('run_cancel', { run_id: run.id, reason: 'No.' }, { actor: person })
  expect(await waiting).toMatchObject({ status: 'cancelled', revision: 2 })
})

test.each([26, -1, 0.5, 'long'])('wait_seconds cannot be %s', async (wait_seconds) => {
  const run = await runOf(explorationProcess)
  const refused = await run.project.refused('state_gate_get_state', { run_id: run.id, wait_seconds })
  expect(refused).toMatchObject(wrongFields('wait_seconds'))
})
