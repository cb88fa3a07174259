import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { journalIn } from '../../../../src/store/sqlite/changes.ts'
import { temporaryStore } from '../../../support/store.ts'
import { recordMission } from './processes/store-of.ts'

/** Longer than any test: what is seen with it was told by the system. */
const never = 600_000

test.skipIf(process.platform === 'win32')(
  'a commit is seen as soon as it is written, without a look at the counter',
  async () => {
    await using temporary = await temporaryStore()
    const { store, file, root } = temporary
    await recordMission(store, 'm-1')
    const changes = journalIn(file, { root, shared: false }, never).changes()
    const { signal } = new AbortController()
    let seen = await changes.after(null, signal)
    await sleep(20) // until it listens
    for (const id of ['m-2', 'm-3', 'm-4']) {
      await recordMission(store, id)
      const next = await changes.after(seen, signal)
      expect(next?.version).not.toBe(seen?.version)
      seen = next
    }
    await changes.stop()
  },
)

test('where there is no log, the counter is looked at', async () => {
  await using temporary = await temporaryStore({ sandboxJournal: true })
  const { store, file, root } = temporary
  const ending = new AbortController()
  const changes = journalIn(file, { root, shared: false }).changes()
  const first = changes.after(null, ending.signal)
  await recordMission(store, 'm-1')
  const seen = await first
  await sleep(20)
  await recordMission(store, 'm-2')
  expect((await changes.after(seen, ending.signal))?.version).not.toBe(seen?.version)
  await changes.stop()
})
