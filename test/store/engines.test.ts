import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { AttemptId, MissionId } from '../../src/kernel/id.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import { searchStartLength } from '../../src/store/schema/plan.ts'
import { amount, soakTest } from '../support/amount.ts'
import { aMission, anAttempt } from '../support/entities.ts'
import { emptyPostgres, isPostgresLeftOut } from '../support/postgres/database.ts'
import { type TemporaryStore, temporaryPostgresStore } from '../support/store.ts'
import { dialects } from './dialects.ts'
import { aChange, closing, happened } from './events.ts'
import { planTask, t } from './plan-events.ts'

const mission = (id: string, changes: object = {}): NewProjectEvent => ({
  kind: 'mission.started',
  mission: aMission({ id: id as MissionId, ...changes }),
})
const depends = (from: number, on: number): NewProjectEvent => ({
  kind: 'dependency.added',
  taskId: t(from),
  dependsOnId: t(on),
})
const planned = (number: number, changes: object = {}): NewProjectEvent => ({
  kind: 'task.planned',
  task: planTask(number, changes),
})

const speaking = (language: string) => ({
  dialect: `postgres whose language is ${language}`,
  fresh: async (): Promise<TemporaryStore> => temporaryPostgresStore(await emptyPostgres({ language })),
})
const languages = ['tr-TR', 'en-US'].slice(0, amount({ test: 1, soak: 2 }))
const engines = [...dialects, ...(isPostgresLeftOut ? [] : languages.map(speaking))]

describe.each(engines)('text in $dialect', ({ fresh }) => {
  test('ids are in the order of their bytes, and found by how they begin', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const ids = ['m-B', 'm-I', 'm-_', 'm-a', 'm-i', 'm-ä', 'm-ı', 'm-🙂']
    await happened(store, 1, ...ids.toReversed().map((id) => mission(id)))
    await store.view(async ({ missions }) => {
      expect(await missions.idsLike('m-', 20)).toEqual(ids)
      expect(await missions.idsLike('m-i', 20)).toEqual(['m-i'])
      expect(await missions.idsLike('m-ı', 20)).toEqual(['m-ı'])
    })
  })

  test('letters are found however they are written', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(
      store,
      1,
      mission('m-1', { name: 'ÉTÉ', objective: 'Ärger %_\\' }),
      mission('m-2', { name: 'other', objective: 'ﬁnal' }),
      planned(1, { name: 'Größe ändern', goal: 'É' }),
      planned(2, { name: 'e\u0301te\u0301 ahead', goal: null }),
    )
    const edited = { kind: 'task.edited', taskId: t(1), changes: { goal: 'Étage 2' } } as const
    await happened(store, 2, edited)
    await store.view(async ({ missions, plan }) => {
      const found = async (search: string) =>
        (await missions.list({ search, limit: 9 })).items.map(({ item }) => item.id)
      expect(await found('été')).toEqual(['m-1'])
      expect(await found('ärger')).toEqual(['m-1'])
      expect(await found('%_\\')).toEqual(['m-1'])
      expect(await found('FINAL')).toEqual(['m-2'])
      expect(await found('m-2')).toEqual(['m-2'])
      expect(await found('nothing')).toEqual([])
      const tasks = async (search: string) =>
        (await plan.tasks({ search, now: 1 }, { limit: 9 })).tasks.map(({ task }) => task.id)
      expect(await tasks('größe étage')).toEqual([t(1)])
      expect(await tasks('Été')).toEqual([t(2)])
    })
  })

  test('finds words of a long text before, across and behind the part that the index has', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const wide = (length: number) => '\u{1f600}'.repeat(length)
    await happened(
      store,
      1,
      planned(1, { name: 'a', goal: `${wide(searchStartLength - 7)}across behind` }),
      planned(2, { name: 'b', goal: 'across' }),
      planned(3, { name: 'c', goal: `${wide(searchStartLength - 6)}last` }),
    )
    await store.view(async ({ plan }) => {
      const tasks = async (search: string) =>
        (await plan.tasks({ search, owner: 'open', now: 1 }, { limit: 9 })).tasks.map(({ task }) => task.id)
      expect(await tasks(wide(1))).toEqual([t(1), t(3)])
      expect(await tasks('across')).toEqual([t(1), t(2)])
      expect(await tasks('behind')).toEqual([t(1)])
      expect(await tasks('last')).toEqual([t(3)])
      expect(await tasks('lastly')).toEqual([])
    })
  })
})

describe.each(dialects)('what engines take differently, in $dialect', ({ dialect, fresh, alone }) => {
  test('a NUL, half a surrogate pair and 900 kB are kept, and the log as it was', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const long = 'é'.repeat(450_000)
    await happened(store, 1, mission('m-1', { name: 'a\0b \ud800', description: long }))
    await store.view(async ({ missions, eventLog: log }) => {
      const found = await missions.find('m-1')
      expect(found?.name).toBe('a␀b \ufffd')
      expect(found?.description === long).toBe(true)
      expect((await missions.list({ search: 'A\0B', limit: 5 })).total).toBe(1)
      const { items } = { items: await log.since(1, 1) }
      expect(items[0]?.body).toMatchObject({ mission: { name: 'a\0b \ufffd' } })
      expect(await log.verify()).toEqual({ events: 2, brokenAt: null })
    })
  })

  test('sums beyond 32 bits are numbers', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, mission('m-1'))
    for (const number of [1, 2]) {
      const attempt = anAttempt({ id: `a-${number}` as AttemptId, taskId: t(number) })
      const change = aChange(`${number}.ts`, { addedLines: 3_000_000_000, deletedLines: 1 })
      await happened(
        store,
        2,
        planned(number),
        { kind: 'attempt.opened', attempt },
        closing(attempt, [change]),
      )
    }
    await store.view(async ({ missions, tasks, timeline }) => {
      const id = 'm-1' as MissionId
      expect(await missions.lines(id)).toEqual({ files: 2, added: 6_000_000_000, deleted: 2 })
      expect((await missions.totals(id)).tokensInput).toBe(200)
      const one = 'a-1' as AttemptId
      expect((await tasks.measurementTotals([one])).get(one)).toMatchObject({ addedLines: 3_000_000_000 })
      expect((await timeline.lines(id, 5)).get(one)?.added).toBe(3_000_000_000)
    })
  })

  test('a sum beyond the numbers that are counted exactly is refused, and what it is made of is read', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, mission('m-1'))
    for (const number of [1, 2]) {
      const attempt = anAttempt({ id: `a-${number}` as AttemptId, taskId: t(number) })
      const opened = { kind: 'attempt.opened', attempt } as const
      const end = closing(attempt, [aChange('a.ts', { addedLines: 2 ** 53 - 1, deletedLines: 2 ** 52 - 1 })])
      await happened(store, 2, planned(number), opened, end)
    }
    const lines = store.view(({ missions }) => missions.lines('m-1' as MissionId))
    await expect(lines).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/returned 1801439850948198[24], which is too large/),
    })
    await store.view(async ({ tasks }) => {
      const one = 'a-1' as AttemptId
      expect((await tasks.measurementTotals([one])).get(one)).toMatchObject({ addedLines: 2 ** 53 - 1 })
    })
  })

  test('an empty list finds nothing', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    await happened(store, 1, mission('m-1'), planned(1))
    await store.view(async ({ missions, tasks, inboxItems, plan, runs }) => {
      expect((await missions.list({ statuses: [], limit: 5 })).items).toEqual([])
      expect(await missions.listings([])).toEqual([])
      expect(await missions.names([])).toEqual(new Map())
      expect(await tasks.names([])).toEqual(new Map())
      expect(await tasks.cards([])).toEqual([])
      expect(await tasks.measurementTotals([])).toEqual(new Map())
      expect(await tasks.histories([], 1)).toEqual(new Map())
      expect((await inboxItems.list({ kinds: [] }, { limit: 5 })).items).toEqual([])
      expect(await plan.notesWithIds([])).toEqual([])
      expect(await inboxItems.answeredCommands([], null)).toEqual([])
      expect((await plan.next({ now: 1, assignees: [] }))?.task.id).toBe(t(1))
      expect(await runs.changesOf([])).toEqual([])
    })
  })

  test('links that are made at once come to what they come to one by one', async () => {
    await using temporary = await fresh()
    const { store } = temporary
    const numbers = Array.from({ length: 40 }, (_, number) => number)
    const links = numbers.flatMap((from) =>
      numbers.filter((on) => on < from && (from * 7 + on * 3) % 11 === 0).map((on) => depends(from, on)),
    )
    expect(links.length).toBeGreaterThan(40)
    const done = { kind: 'task.marked', status: 'done' } as const
    await happened(
      store,
      1,
      ...numbers.map((number) => planned(number)),
      ...links.slice(0, 30),
      { ...done, taskId: t(5) },
      { ...done, taskId: t(14) },
      ...links.slice(30),
      { kind: 'task.marked', taskId: t(14), status: 'to_do' },
    )
    // The log entries are applied again one by one.
    expect(await store.inspect()).toMatchObject({ differing: 0, differences: [] })
  })

  // A shorter one is read whole sooner than by its indexes.
  const length = amount({ test: 100, soak: 1_000 })
  const isIndexed = length >= 1_000

  soakTest(
    'a long chain of tasks has the right order at once and link by link, and is walked by its indexes',
    async () => {
      await using temporary = await alone()
      const store = dialect === 'postgres' ? overOneConnection(temporary) : temporary.store
      const numbers = Array.from({ length }, (_, number) => number)
      const last = t(length - 1)
      await happened(store, 1, ...[...numbers, 2000, 2001].map((number) => planned(number)))
      await happened(store, 2, ...numbers.slice(1).map((number) => depends(number, number - 1)))
      const next = async () => (await store.view(({ plan }) => plan.next({ now: 0 })))?.task.id
      expect(await next()).toBe(t(0))
      const scans = dialect === 'postgres' && isIndexed ? await scansOf(temporary.file, store) : null
      // Link by link: what now begins the longest chain comes first.
      await happened(store, 3, depends(0, 2000))
      expect(await next()).toBe(t(2000))
      expect((await store.view(({ plan }) => plan.chain(last, t(2000))))?.length).toBe(length + 1)
      if (scans) expect(await scans()).toBeLessThan(100)
      await happened(store, 4, { kind: 'dependency.removed', taskId: t(0), dependsOnId: t(2000) })
      expect(await next()).toBe(t(0))
      expect((await store.view(({ plan }) => plan.chain(last, t(0))))?.length).toBe(length)
      expect(await store.view(({ plan }) => plan.chain(t(0), last))).toBeNull()
    },
  )
})

/** What a session scanned is told of it, so there is one session. */
function overOneConnection({ file, folder }: TemporaryStore): Store {
  const url = new URL(file)
  url.searchParams.set('pool', '1')
  const project = { root: folder, name: null, machine: 'laptop' }
  const store = openPostgresStore({ url: url.href, project, ids: randomIds })
  onTestFinished(() => store.close())
  return store
}

/** With a planner that knows the tables: how often one was read whole since, once it shows how often indexes were. */
async function scansOf(file: string, store: Store): Promise<() => Promise<number>> {
  const client = new Client({ connectionString: file })
  client.on('error', () => undefined) // its database goes with the test
  await client.connect()
  const counted = async () => {
    // A session tells what it scanned with its next transaction, once a second, a moment after that was answered.
    await sleep(1_100)
    await store.view(({ eventLog: log }) => log.head())
    await sleep(200)
    const { rows } = await client.query<{ whole: number; indexed: number }>(
      'select sum(seq_scan)::int as whole, sum(idx_scan)::int as indexed from pg_stat_user_tables',
    )
    return rows[0] ?? { whole: 0, indexed: 0 }
  }
  await client.query('analyze')
  await counted()
  const before = await counted()
  return async () => {
    let after = before
    for (let round = 0; round < 20 && after.indexed - before.indexed < 1_000; round += 1)
      after = await counted()
    expect(after.indexed - before.indexed).toBeGreaterThanOrEqual(1_000)
    return after.whole - before.whole
  }
}
