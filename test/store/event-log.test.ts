import { describe, expect, test } from 'vitest'
import { Failure } from '../../src/kernel/failure.ts'
import type { MissionId, RunId } from '../../src/kernel/id.ts'
import { agent, aMission } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { happened } from './events.ts'

const started = (number: number) =>
  ({ kind: 'mission.started', mission: aMission({ id: `m-${number}` as MissionId }) }) as const

describe.each(dialects)('the log in $dialect', ({ fresh }) => {
  test('facts are numbered from 1 without a gap, whole and in order', async () => {
    await using temporary = await fresh()
    const { store, root } = temporary
    await happened(store, 7, started(1), started(2))
    await happened(store, 8, started(3))
    await store.view(async ({ eventLog: log }) => {
      const events = await log.since(0, 10)
      expect(events.map(({ seq, recordedAt }) => [seq, recordedAt])).toEqual([
        [1, 7],
        [2, 7],
        [3, 7],
        [4, 8],
      ])
      expect(events[0]).toMatchObject({
        actor: agent,
        version: 1,
        body: { kind: 'project.created', root },
      })
      expect(events[3]?.body).toEqual(started(3))
      expect(events[3]?.hash).toMatch(/^[0-9a-f]{64}$/)
      expect((await log.since(2, 1)).map(({ seq }) => seq)).toEqual([3])
      expect((await log.latest({ limit: 2 })).map(({ seq }) => seq)).toEqual([4, 3])
      expect((await log.latest({ limit: 2, before: 3 })).map(({ seq }) => seq)).toEqual([2, 1])
      expect(await log.head()).toBe(4)
      expect(await log.verify()).toEqual({ events: 4, brokenAt: null })
    })
  })

  test('text that no database stores is kept in the form that was hashed', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const name = 'half \ud800, nul \u0000, "quoted", é, 🙂'
    await happened(store, 7, { kind: 'mission.started', mission: aMission({ name }) })
    await store.view(async ({ missions, eventLog: log }) => {
      expect((await missions.find('m-1'))?.name).toBe(name.toWellFormed().replace('\0', '␀'))
      expect((await log.since(1, 1))[0]?.body).toMatchObject({
        mission: { name: name.toWellFormed() },
      })
      expect((await log.verify()).brokenAt).toBeNull()
    })
  })

  test('a decision that refuses, or to which nothing happened, leaves no trace', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const refusing = store.record({
      actor: agent,
      at: 1,
      decide: async () => {
        throw new Failure('CONFLICT', 'no')
      },
    })
    await expect(refusing).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(
      await store.record({ actor: agent, at: 1, decide: async () => ({ events: [], answer: 'x' }) }),
    ).toBe('x')
    expect(await store.view((reads) => reads.eventLog.head())).toBe(0)
  })

  test('a decision reads what was recorded before it, and concurrent ones take turns', async () => {
    await using temporary = await fresh()
    const { store, another } = temporary
    const counting = (number: number) =>
      (number % 2 === 0 ? store : another()).record({
        actor: agent,
        at: number,
        decide: async (reads) => {
          const { total } = await reads.missions.list({ limit: 1 })
          return { events: [started(total + 1)], answer: total }
        },
      })
    const totals = await Promise.all(Array.from({ length: 12 }, (_, number) => counting(number)))
    expect(totals.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, index) => index))
  })

  test('a view sees one state, whatever is recorded meanwhile', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, started(1))
    const heads = await store.view(async ({ eventLog: log }) => {
      const before = await log.head()
      await happened(store, 2, started(2))
      return [before, await log.head()]
    })
    expect(heads).toEqual([2, 2])
    expect(await store.view(({ eventLog: log }) => log.head())).toBe(3)
  })
})

describe.each(dialects)('idempotency in $dialect', ({ fresh }) => {
  const key = { key: 'k', owner: 'ada', connection: null, operation: 'start', inputHash: 'h' }

  test('a repeat is answered as the first time, and nothing happens again', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    expect(await store.replay(key)).toBeNull()
    const asked = (answer: number) =>
      store.record({
        actor: agent,
        at: answer,
        idempotency: key,
        decide: async () => ({ events: [started(answer)], answer: { answer } }),
      })
    // Which of two that are asked at once comes first is not said; the other one is answered the same.
    const [one, other] = await Promise.all([asked(1), asked(2)])
    expect(other).toEqual(one)
    expect(await asked(3)).toEqual(one)
    expect(await store.replay(key)).toEqual({ answer: one })
    expect(await store.view(({ eventLog: log }) => log.head())).toBe(2)
  })

  test.each([
    { change: { inputHash: 'other' }, reason: 'idempotency_key_reused' },
    { change: { operation: 'stop' }, reason: 'idempotency_key_of_other_operation' },
  ])('a key that was used otherwise is refused ($reason)', async ({ change, reason }) => {
    await using temporary = await fresh()
    const { store } = temporary
    const decide = async () => ({ events: [], answer: 1 })
    await store.record({ actor: agent, at: 1, idempotency: key, decide })
    const idempotency = { ...key, ...change }
    const refused = { code: 'IDEMPOTENCY_KEY_REUSED', reason }
    await expect(store.record({ actor: agent, at: 2, idempotency, decide })).rejects.toMatchObject(refused)
    await expect(store.replay(idempotency)).rejects.toMatchObject(refused)
  })

  test('a key is its owner’s: the same word of another is another key', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const asked = (owner: string, answer: number) =>
      store.record({
        actor: agent,
        at: answer,
        idempotency: { ...key, owner },
        decide: async () => ({ events: [], answer }),
      })
    expect(await asked('ada', 1)).toBe(1)
    expect(await asked('ben', 2)).toBe(2)
    expect(await asked('ada', 3)).toBe(1)
    expect(await store.replay({ ...key, owner: 'cy' })).toBeNull()
  })

  test('a key of a run is that run’s, and is bound only where the decision says so', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const ofRun = { ...key, run: 'run-1' as RunId }
    const accepted = (answer: number, binds: boolean) =>
      store.record({
        actor: agent,
        at: answer,
        decide: async () => ({
          events: [started(answer)],
          ...(binds && { binds: { idempotency: ofRun, answer: { bound: answer } } }),
          answer,
        }),
      })
    await accepted(1, false)
    expect(await store.replay(ofRun)).toBeNull()
    expect(await accepted(2, true)).toBe(2)
    expect(await store.replay(ofRun)).toEqual({ answer: { bound: 2 } })
    expect(await store.replay(key)).toBeNull()
    expect(await store.replay({ ...key, run: 'run-2' as RunId })).toBeNull()
    // Another event that would bind the same key is refused whole.
    await expect(accepted(3, true)).rejects.toThrow()
    expect(await store.view(({ eventLog: log }) => log.head())).toBe(3)
  })

  test('the token of a claim is answered again only on the connection that made it', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const idempotency = { ...key, connection: 'one' }
    const decide = async () => ({ events: [], answer: { claim: { token: 'c-secret', agent: 'ada' } } })
    await store.record({ actor: agent, at: 1, idempotency, decide })
    expect(await store.replay(idempotency)).toMatchObject({ answer: { claim: { token: 'c-secret' } } })
    await expect(store.replay({ ...key, connection: 'two' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      reason: 'claim_of_other_connection',
    })
  })

  test('a refused command does not use its key up', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const decide = async () => {
      throw new Failure('CONFLICT', 'not yet')
    }
    await expect(store.record({ actor: agent, at: 1, idempotency: key, decide })).rejects.toThrow('not yet')
    expect(await store.replay(key)).toBeNull()
  })
})
