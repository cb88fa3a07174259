import { expect, test } from 'vitest'
import { amount } from '../../support/amount.ts'
import type { Answer } from '../../support/project.ts'
import { runWaymark } from '../../surfaces/mcp/server-process.ts'
import { contest } from './contest.ts'
import { killing } from './killing.ts'
import { beginRace, firstOf, raceTrack } from './race.ts'
import { expectReplays, storedRun, storeIn } from './stored-run.ts'

// Starting processes takes a while on a small machine.
const patient = { timeout: 240_000 }

const rounds = amount({ test: 20, soak: 60 })
const few = amount({ test: 10, soak: 20 })

test('two processes emit many events each: revisions have no gap and no duplicate', patient, async () => {
  await contest(amount({ test: 30, soak: 100 }))
})

test(
  'of two events at one revision one is accepted, and nothing of the other is anywhere',
  patient,
  async () => {
    const { folder, servers, run } = await beginRace(2)
    const one = firstOf(servers)
    for (let revision = 1; revision <= rounds; revision += 1) {
      const answers = await Promise.all(
        servers.map(({ result }, index) =>
          result('state_gate_emit_event', {
            run_id: run,
            event_name: 'take',
            expected_revision: revision,
            idempotency_key: `${revision}/${index}`,
            payload: { by: `${revision}/${index}` },
          }),
        ),
      )
      const winner = answers.findIndex(({ isError }) => !isError)
      const refused = answers.filter(({ isError }) => isError)
      expect(refused.map(({ structuredContent }) => structuredContent.error.code)).toEqual([
        'REVISION_CONFLICT',
      ])
      const state = await one.call('state_gate_get_state', { run_id: run })
      expect(state).toMatchObject({ revision: revision + 1, context: { last: `${revision}/${winner}` } })
    }
    const stored = await storedRun(storeIn(folder), run)
    expectReplays(stored)
    expect(stored.events).toHaveLength(rounds)
  },
)

test('the same event with the same key from two processes at once is accepted once', patient, async () => {
  const { folder, servers, run } = await beginRace(2, 'one-client')
  for (let revision = 1; revision <= rounds; revision += 1) {
    const input = {
      run_id: run,
      event_name: 'take',
      expected_revision: revision,
      idempotency_key: `key-${revision}`,
      payload: { by: String(revision) },
    }
    const answers = await Promise.all(servers.map(({ call }) => call('state_gate_emit_event', input)))
    const [accepted] = answers.filter(({ info }) => info === undefined)
    const [repeated] = answers.filter(({ info }) => info?.code === 'IDEMPOTENT_REPLAY')
    expect(accepted?.result.new_revision).toBe(revision + 1)
    expect(repeated?.result).toEqual({ ...accepted?.result, replayed: true })
  }
  const { events } = await storedRun(storeIn(folder), run)
  expect(events).toHaveLength(rounds)
})

test('one key with two contents from two processes at once binds one of them', patient, async () => {
  const { folder, servers, run } = await beginRace(2, 'one-client')
  for (let revision = 1; revision <= few; revision += 1) {
    const answers = await Promise.all(
      servers.map(({ result }, index) =>
        result('state_gate_emit_event', {
          run_id: run,
          event_name: 'take',
          expected_revision: revision,
          idempotency_key: `key-${revision}`,
          payload: { by: `${revision}/${index}` },
        }),
      ),
    )
    const refused = answers.filter(({ isError }) => isError)
    expect(refused.map(({ structuredContent }) => structuredContent.error.code)).toEqual([
      'IDEMPOTENCY_KEY_REUSED',
    ])
  }
  const { events } = await storedRun(storeIn(folder), run)
  expect(events).toHaveLength(few)
})

test('servers killed in the middle of events leave a consistent run', patient, async () => {
  await killing(amount({ test: 3, soak: 8 }))
})

test(
  'six processes begin runs in a fresh project at once: all are there, each with its own id',
  patient,
  async () => {
    const { folder, servers } = await raceTrack(6, 'one-client')
    const made = await Promise.all(
      servers.map(async ({ call }) => {
        const ids: string[] = []
        for (let turn = 0; turn < 10; turn += 1) {
          ids.push((await call('state_gate_create_run', { process_id: 'race' })).run_id)
        }
        return ids
      }),
    )
    const same = { process_id: 'race', idempotency_key: 'the one' }
    const repeated = await Promise.all(servers.map(({ call }) => call('state_gate_create_run', same)))
    const [once, ...others] = new Set(repeated.map(({ run_id }) => run_id))
    expect(others).toEqual([])

    const ids = [...made.flat(), once]
    expect(new Set(ids).size).toBe(61)
    const store = storeIn(folder)
    const { items, total } = await store.view(({ runs }) => runs.list({}, { limit: 100 }))
    expect(total).toBe(61)
    expect(new Set(items.map(({ item }) => item.id))).toEqual(new Set(ids))
    expect(runWaymark(folder, 'doctor')).toMatchObject({ healthy: true })
  },
)

test('those who wait for a run in one process are woken by an event of another', patient, async () => {
  const { servers, run } = await beginRace(2)
  const [waiting, emitting] = servers
  if (!waiting || !emitting) throw new Error('two servers are needed')
  const { run_id: other } = await waiting.call('state_gate_create_run', { process_id: 'race' })
  const order: string[] = []
  const wait = async (run_id: string, wait_seconds: number): Promise<Answer> => {
    const state = await waiting.call('state_gate_get_state', { run_id, since_revision: 1, wait_seconds })
    order.push(run_id)
    return state
  }
  // It ends by itself: whoever answers before it was woken, and did not run out of time.
  const inVain = wait(other, 15)
  const woken = Array.from({ length: 8 }, () => wait(run, 25))
  const take = { run_id: run, event_name: 'take', expected_revision: 1, idempotency_key: 'wake' }
  await emitting.call('state_gate_emit_event', { ...take, payload: { by: 'another' } })
  for (const state of await Promise.all(woken)) {
    expect(state).toMatchObject({ revision: 2, context: { last: 'another' } })
  }
  const more = {
    ...take,
    expected_revision: 2,
    idempotency_key: 'meanwhile',
    payload: { by: 'the waiting one' },
  }
  expect((await waiting.call('state_gate_emit_event', more)).result.new_revision).toBe(3)
  expect(order).not.toContain(other)
  expect(await inVain).toMatchObject({ run_id: other, revision: 1 })
})
