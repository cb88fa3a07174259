import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { amount } from '../../support/amount.ts'
import { temporaryStore } from '../../support/store.ts'
import { spawned } from './processes/spawned.ts'
import { recordMission } from './processes/store-of.ts'

// Starting fifty processes takes most of a minute on a small machine.
const patient = { timeout: 240_000 }

const many = amount({ test: 8, soak: 50 })

test(
  'many processes that open a fresh project at once make one database and one project',
  patient,
  async () => {
    await using temporary = await temporaryStore()
    const { root, file, store } = temporary
    const shot = join(root, 'go')
    const openers = Array.from({ length: many }, (_, index) =>
      spawned('opener', [root, file, `m-${index}`, shot]),
    )
    await Promise.all(openers.map((opener) => opener.firstLine))
    await writeFile(shot, '')
    const ended = await Promise.all(openers.map((opener) => opener.ended))
    expect(ended.filter(({ code }) => code !== 0)).toEqual([])
    const { missions, check } = await store.view(async (reads) => ({
      missions: await reads.missions.list({ limit: 100 }),
      check: await reads.eventLog.verify(),
    }))
    expect(missions.total).toBe(many)
    expect(check).toEqual({ events: many + 1, brokenAt: null })
    expect((await store.health()).journalMode).toBe('wal')
  },
)

test('eight processes write at once: nothing is lost, and the log has no gap', async () => {
  await using temporary = await temporaryStore()
  const { root, file, store } = temporary
  const names = Array.from({ length: 8 }, (_, index) => `m-${index}`)
  const ended = await Promise.all(names.map((name) => spawned('writer', [root, file, name, '50']).ended))
  expect(ended.filter(({ code }) => code !== 0)).toEqual([])
  const { events, total, check } = await store.view(async (reads) => ({
    events: await reads.eventLog.since(0, 1000),
    total: (await reads.missions.list({ limit: 1 })).total,
    check: await reads.eventLog.verify(),
  }))
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 401 }, (_, index) => index + 1))
  expect(total).toBe(400)
  expect(check).toEqual({ events: 401, brokenAt: null })
})

test.each([{ sandboxJournal: false }, { sandboxJournal: true }])(
  'what was acknowledged survives kill -9, and nothing is half done ($sandboxJournal)',
  async (options) => {
    await using temporary = await temporaryStore(options)
    const { root, file, store } = temporary
    await recordMission(store, 'm-first')
    for (const [round, delay] of [40, 7, 90, 130].slice(0, amount({ test: 2, soak: 4 })).entries()) {
      const writer = spawned('writer', [root, file, `m-${round}`, '100000'])
      await writer.firstLine
      await sleep(delay)
      writer.kill('SIGKILL')
      const { output, signal } = await writer.ended
      expect(signal).toBe('SIGKILL')
      const acknowledged = output.trimEnd().split('\n').at(-1) ?? ''
      const after = await temporary.another().view(async (reads) => ({
        found: await reads.missions.find(acknowledged),
        total: (await reads.missions.list({ limit: 1 })).total,
        check: await reads.eventLog.verify(),
      }))
      expect(after.found?.id).toBe(acknowledged)
      expect(after.check).toEqual({ events: after.total + 1, brokenAt: null })
      await recordMission(store, `m-after-${round}`)
    }
  },
)

test('a lock that is let go after a second is waited for, without freezing this process', async () => {
  await using temporary = await temporaryStore()
  const { root, file, store } = temporary
  await recordMission(store, 'm-1')
  const letGo = join(root, 'let-go')
  const locker = spawned('locker', [file, letGo])
  await locker.firstLine
  const recording = recordMission(store, 'm-2')
  let isOver = false
  const over = () => (isOver = true)
  void recording.then(over, over)
  const began = performance.now()
  // It stays locked until this process had its turns.
  for (let turns = 0; turns <= 5 || performance.now() - began < 1_000; turns += 1) {
    await sleep(5)
    expect(isOver).toBe(false)
  }
  await writeFile(letGo, '')
  await recording
  await locker.ended
  expect(await store.view((reads) => reads.missions.find('m-2'))).not.toBeNull()
})

test('a lock that is kept for ten seconds and more ends in a clear failure, for all who wait, and then it works', async () => {
  await using temporary = await temporaryStore()
  const { root, file, store } = temporary
  await recordMission(store, 'm-1')
  const letGo = join(root, 'let-go')
  const locker = spawned('locker', [file, letGo])
  await locker.firstLine
  const refused = await Promise.allSettled(['m-2', 'm-3', 'm-4'].map((id) => recordMission(store, id)))
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(refused[0]).toMatchObject({
    reason: { code: 'UNAVAILABLE', message: expect.stringContaining(file), hint: expect.any(String) },
  })
  expect(await store.view((reads) => reads.missions.find('m-2'))).toBeNull()
  await writeFile(letGo, '')
  await locker.ended
  await recordMission(store, 'm-5')
  expect(await store.view((reads) => reads.missions.find('m-5'))).not.toBeNull()
})

test('two processes with one idempotency key get one answer', async () => {
  await using temporary = await temporaryStore()
  const { root, file, store } = temporary
  const names = ['a', 'b', 'c', 'd']
  const ended = await Promise.all(names.map((name) => spawned('once', [root, file, name, 'key']).ended))
  expect(new Set(ended.map(({ output }) => output)).size).toBe(1)
  expect(await store.view((reads) => reads.eventLog.head())).toBe(1)
})
