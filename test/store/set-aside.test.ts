import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryLog } from '../../src/store/ports/record-rows.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { agent } from '../support/entities.ts'
import { isPostgresLeftOut } from '../support/postgres/database.ts'
import { type TemporaryStore, temporaryPostgresStore, temporaryStore } from '../support/store.ts'
import { recordMission } from './sqlite/processes/store-of.ts'

const logOf = (store: Store) => store.view(({ eventLog: log }) => log.since(0, 1000))

/** The log of another project, or one that goes on with a log. */
async function logElsewhere(names: readonly string[], before: Awaited<ReturnType<typeof logOf>> = []) {
  await using temporary = await temporaryStore()
  if (before.length > 0) await temporary.store.restore(memoryLog(before))
  for (const name of names) await recordMission(temporary.store, name)
  return logOf(temporary.store)
}

const engines = [
  { engine: 'a shared file', open: () => temporaryStore({ shared: true }) },
  ...(isPostgresLeftOut ? [] : [{ engine: 'PostgreSQL', open: () => temporaryPostgresStore() }]),
]

const importing = { replace: true, actor: agent, at: Date.now() }

const missions = async (store: Store) =>
  (await logOf(store)).flatMap(({ body }) => (body.kind === 'mission.started' ? [body.mission.id] : []))

describe.each(engines)('a project whose place another one takes in $engine', ({ open }) => {
  async function opened(): Promise<TemporaryStore> {
    const temporary = await open()
    onTestFinished(() => temporary[Symbol.asyncDispose]())
    return temporary
  }

  test('is written no more: a process that has it open goes on with the new one', async () => {
    const { store, another } = await opened()
    await recordMission(store, 'm-old')
    const running = another()
    await recordMission(running, 'm-running')
    expect(
      (await store.restore(memoryLog(await logElsewhere(['m-imported'])), importing)).setAside,
    ).toContain('-replaced')
    await recordMission(running, 'm-after')
    expect(await missions(running)).toEqual(['m-imported', 'm-after'])
    expect(await missions(another())).toEqual(['m-imported', 'm-after'])
    expect(await running.inspectChain()).toMatchObject({ brokenAt: null })
  })

  test('is continued by a longer log while others write, or the log is refused: nothing recorded is lost', async () => {
    const { store, another } = await opened()
    await recordMission(store, 'm-0')
    const names = Array.from({ length: 100 }, (_, number) => `m-there-${number}`)
    const longer = await logElsewhere(names, await logOf(store))
    const writers = [another(), another()]
    const told: string[] = []
    const writing = writers.map(async (writer, index) => {
      for (let number = 1; number <= 20; number += 1) {
        await recordMission(writer, `m-${index}-${number}`)
        told.push(`m-${index}-${number}`)
      }
    })
    const restored = await store.restore(memoryLog(longer), importing).catch((error) => {
      expect(error).toMatchObject({ reason: 'record_diverged' })
      return null
    })
    await Promise.all(writing)
    const expected = ['m-0', ...(restored ? names : []), ...told]
    expect((await missions(store)).toSorted()).toEqual(expected.toSorted())
    expect(await store.inspectChain()).toMatchObject({ brokenAt: null })
  })
})
