import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { MissionId } from '../../src/kernel/id.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { amount } from '../support/amount.ts'
import { aMission } from '../support/entities.ts'
import { dialects } from './dialects.ts'
import { happened } from './events.ts'

const started = (number: number) =>
  ({ kind: 'mission.started', mission: aMission({ id: `m-${number}` as MissionId }) }) as const

/** The seqs that a follower sees up to `last`; it ends itself then. */
async function followed(store: Store, after: number, last: number): Promise<readonly number[]> {
  const ending = new AbortController()
  const seqs: number[] = []
  for await (const events of store.follow(after, ending.signal)) {
    seqs.push(...events.map(({ seq }) => seq))
    if ((seqs.at(-1) ?? 0) >= last) ending.abort()
  }
  return seqs
}

const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

describe.each(dialects)('following in $dialect', ({ fresh }) => {
  test('facts are seen in order as others record them, from before the project exists', async () => {
    await using temporary = await fresh()
    const { store, another } = temporary
    const early = followed(another(), 0, 1201)
    await happened(store, 1, ...Array.from({ length: 1100 }, (_, index) => started(index)))
    const late = followed(store, 1000, 1201)
    for (let number = 1100; number < 1200; number += 1) await happened(store, 2, started(number))
    expect(await early).toEqual(upTo(1201))
    expect(await late).toEqual(upTo(1201, 1001))
  })

  test('many followers, each at its own pace and place, miss nothing', async () => {
    await using temporary = await fresh()
    const { store, another } = temporary
    const following = another()
    const missions = amount({ test: 100, soak: 300 })
    const last = missions + 1
    const slowly = async (after: number, own: number): Promise<readonly number[]> => {
      const ending = new AbortController()
      const seqs: number[] = []
      for await (const events of following.follow(after, ending.signal)) {
        seqs.push(...events.map(({ seq }) => seq))
        if ((seqs.length + own) % 5 === 0) await sleep((seqs.length * 7 + own) % 20)
        if (seqs.at(-1) === last) ending.abort()
      }
      return seqs
    }
    await happened(store, 1, ...Array.from({ length: 50 }, (_, index) => started(index)))
    const places = Array.from({ length: 12 }, (_, index) => (index % 4) * 17)
    const all = Promise.all(places.map((after, own) => slowly(after, own)))
    for (let number = 50; number < missions; number += 1) {
      await happened(store, 2, started(number))
      await sleep(number % 6)
    }
    expect(await all).toEqual(places.map((after) => upTo(last, after + 1)))
  })

  test('who begins to follow as the last one leaves is told what is there, and what comes', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    let last = 1 // the project's own
    for (let round = 1; round <= 20; round += 1) {
      await happened(store, 1, started(round))
      last += 1
      expect(await followed(store, last - 1, last)).toEqual([last])
      const next = followed(store, last, last + 1)
      await sleep(round % 5)
      await happened(store, 1, started(round + 1000))
      last += 1
      expect(await next).toEqual([last])
    }
  })

  test('a follower ends when its signal aborts or the store is closed, also while nothing happens', async () => {
    await using temporary = await fresh()
    const ending = new AbortController()
    const seen = async (signal: AbortSignal): Promise<number> => {
      let events = 0
      for await (const some of temporary.store.follow(0, signal)) events += some.length
      return events
    }
    const following = seen(ending.signal)
    ending.abort()
    expect(await following).toBe(0)
    expect(await seen(AbortSignal.abort())).toBe(0)
    const untilClosed = seen(new AbortController().signal)
    await temporary.store.close()
    expect(await untilClosed).toBe(0)
  })
})
