import { copyFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { amount } from '../../support/amount.ts'
import { temporaryStore } from '../../support/store.ts'
import { happened } from '../events.ts'
import { advanced, anEvent, created, kept, r, version } from '../run-events.ts'
import { spawned } from './processes/spawned.ts'
import { recordMission } from './processes/store-of.ts'

test('processes that move one run at once get a revision each, without a gap', async () => {
  await using temporary = await temporaryStore()
  const { root, file, store } = temporary
  await happened(store, 1, kept, created())
  const names = ['a', 'b', 'c'].slice(0, amount({ test: 2, soak: 3 }))
  const each = amount({ test: 8, soak: 60 })
  const ended = await Promise.all(
    names.map((name) => spawned('emitter', [root, file, name, String(each)]).ended),
  )
  expect(ended.filter(({ code }) => code !== 0)).toEqual([])
  await store.view(async ({ runs, eventLog: log }) => {
    const { items } = await runs.history(r(1), { limit: 1000 })
    const events = items.map(({ item }) => item).toReversed()
    expect(events.map(({ revision }) => revision)).toEqual(
      Array.from({ length: names.length * each }, (_, index) => index + 2),
    )
    for (const name of names) expect(events.filter(({ author }) => author === name)).toHaveLength(each)
    expect(await runs.find('run-1')).toMatchObject({ revision: names.length * each + 1 })
    expect(await log.verify()).toEqual({ events: names.length * each + 3, brokenAt: null })
  })
})

test('two stores that bind one key of a run at once bind it to one event', async () => {
  await using temporary = await temporaryStore()
  const { store, another } = temporary
  await happened(store, 1, kept, created())
  const key = { key: 'k', run: r(1), owner: 'ada', connection: null, operation: 'emit', inputHash: 'h' }
  const emit = (from: typeof store, number: number) =>
    from.record({
      actor: { name: `c${number}`, kind: 'agent', role: null, channel: 'stdio' },
      at: number,
      decide: async ({ keys }) => {
        const known = await keys.answerOf(key)
        if (known) return { events: [], answer: known.answer }
        const event = anEvent(2)
        return {
          events: [advanced(event)],
          binds: { idempotency: key, answer: event.id },
          answer: event.id,
        }
      },
    })
  const answers = await Promise.all([emit(store, 1), emit(another(), 2), emit(another(), 3)])
  expect(answers).toEqual(['evt-2', 'evt-2', 'evt-2'])
  expect(await store.view(async ({ runs }) => (await runs.history(r(1), { limit: 5 })).total)).toBe(1)
})

test('a definition that was kept in a database which an older one replaced is kept no more', async () => {
  await using temporary = await temporaryStore()
  const { store, file, another } = temporary
  await recordMission(store, 'm-1')
  await store.close()
  await copyFile(file, `${file}.backup`)
  const later = another()
  await happened(later, 1, kept, created())
  expect(await later.view(({ runs }) => runs.load('run-1'))).not.toBeNull()
  await later.close()
  await copyFile(`${file}.backup`, file)
  const older = another()
  expect(await older.view(({ runs }) => runs.definition(version.hash))).toBeNull()
  await happened(older, 2, kept, created())
  expect(await older.view(({ runs }) => runs.definition(version.hash))).not.toBeNull()
})
