import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryStore } from '../../support/store.ts'
import { recordMission } from './processes/store-of.ts'

test.each([
  { creator: false, mode: 'wal' },
  { creator: true, mode: 'persist' },
])('a database keeps the mode of its creation: $mode', async ({ creator, mode }) => {
  await using temporary = await temporaryStore({ sandboxJournal: creator })
  const { store, another } = temporary
  await recordMission(store, 'm-1')
  const other = another({ sandboxJournal: !creator })
  await recordMission(other, 'm-2')
  await recordMission(store, 'm-3')
  expect((await store.health()).journalMode).toBe(mode)
  expect((await other.health()).journalMode).toBe(mode)
  expect((await store.view((reads) => reads.missions.list({ limit: 5 }))).total).toBe(3)
})

test('a sandbox keeps one side file and never deletes it', async () => {
  await using temporary = await temporaryStore({ sandboxJournal: true })
  const { store, file } = temporary
  for (const number of [1, 2, 3]) {
    await recordMission(store, `m-${number}`)
    const names = (await readdir(dirname(file))).toSorted()
    expect(names).toEqual(['.gitignore', 'waymark.db', 'waymark.db-journal'])
  }
})
