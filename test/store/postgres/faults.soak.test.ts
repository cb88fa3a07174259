import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../../src/kernel/failure.ts'
import type { MissionId } from '../../../src/kernel/id.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { amount } from '../../support/amount.ts'
import { agent, aMission } from '../../support/entities.ts'
import { cuttingProxy } from '../../support/postgres/cutting-proxy.ts'
import { isPostgresLeftOut } from '../../support/postgres/database.ts'
import { statementsSent } from '../../support/statements.ts'
import { type TemporaryStore, temporaryPostgresStore } from '../../support/store.ts'

const started = (number: number) => {
  const mission = aMission({ id: `m-${number}` as MissionId })
  return { kind: 'mission.started', mission } as const
}

const happens = (store: Store, number: number, key = `key-${number}`) =>
  store.record({
    actor: agent,
    at: number,
    idempotency: { key, owner: 'a', connection: null, operation: 'start', inputHash: 'x' },
    decide: async () => ({ events: [started(number)], answer: number }),
  })

/** The ids of the missions, each as often as the log holds it, and whether its chain holds. */
async function logOf(store: Store) {
  return store.view(async ({ eventLog: log }) => {
    const events = await log.since(0, 100_000)
    return {
      numbers: events.map(({ seq }) => seq),
      missions: events.flatMap(({ body }) => (body.kind === 'mission.started' ? [body.mission.id] : [])),
      brokenAt: (await log.verify()).brokenAt,
    }
  })
}

async function expectWhole(store: Store, missions: number): Promise<void> {
  const log = await logOf(store)
  expect(log.brokenAt).toBeNull()
  expect(log.numbers).toEqual(log.numbers.map((_, index) => index + 1))
  expect(log.missions.toSorted()).toEqual(
    Array.from({ length: missions }, (_, number) => `m-${number}`).toSorted(),
  )
}

/** A store of the same project by another way to the database, which the test closes. */
function otherWay({ folder }: TemporaryStore, url: string): Store {
  return openPostgresStore({ url, project: { root: folder, name: null, machine: 'laptop' }, ids: randomIds })
}

async function session(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end().catch(() => undefined) })
}

describe.skipIf(isPostgresLeftOut)('a database on a server that fails', () => {
  test('a connection that is cut at its commit, before or after: nothing is lost, nothing doubled', async () => {
    await using temporary = await temporaryPostgresStore()
    await happens(temporary.store, 0)
    await using proxy = await cuttingProxy(temporary.file)
    const through = otherWay(temporary, proxy.url)
    const cuts = amount({ test: 40, soak: 500 })
    let commits = 0
    proxy.atCommit = () => {
      commits += 1
      if (proxy.cuts() >= cuts || commits % 3 === 0) return 'pass'
      return commits % 2 === 0 ? 'before' : 'after'
    }
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let number = 1 + writer; number <= cuts; number += 8)
        expect(await happens(through, number)).toBe(number)
    })
    await Promise.all(writers)
    expect(proxy.cuts()).toBeGreaterThanOrEqual(cuts)
    await through.close()
    await expectWhole(temporary.store, cuts + 1)
  })

  test.each([
    ['40001', 3],
    ['40P01', 3],
    ['25006', 1],
    ['57P01', 2],
    ['26000', 1],
    ['42P05', 1],
    ['53300', 2],
  ])('%s, answered %i times, is no obstacle', async (code, times) => {
    await using temporary = await temporaryPostgresStore()
    await happens(temporary.store, 0)
    await using proxy = await cuttingProxy(temporary.file)
    const through = otherWay(temporary, proxy.url)
    let left = times
    proxy.instead = (statement) => {
      if (!statement.includes('for no key update') || left === 0) return null
      left -= 1
      return code
    }
    expect(await happens(through, 1)).toBe(1)
    expect(left).toBe(0)
    await through.close()
    await expectWhole(temporary.store, 2)
  })

  test.each([
    ['40001', 'database_busy'],
    ['40P01', 'database_busy'],
    ['55P03', 'database_locked'],
    ['57014', 'database_timeout'],
    ['53100', 'disk_full'],
    ['28P01', 'database_login_refused'],
    ['3D000', 'database_not_found'],
  ])('%s without end is told in a sentence, reads go on, and it recovers by itself', async (code, reason) => {
    await using temporary = await temporaryPostgresStore()
    await happens(temporary.store, 0)
    await using proxy = await cuttingProxy(temporary.file)
    const through = otherWay(temporary, proxy.url)
    proxy.instead = (statement) => (statement.includes('for no key update') ? code : null)
    await expect(happens(through, 1)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      reason,
      hint: expect.any(String),
    })
    expect(await through.view(({ eventLog: log }) => log.head())).toBe(2)
    proxy.instead = null
    expect(await happens(through, 1)).toBe(1)
    await through.close()
    await expectWhole(temporary.store, 2)
  })

  test('a session that holds the project for longer than ten seconds: busy, and no connection is leaked', async () => {
    await using temporary = await temporaryPostgresStore()
    await happens(temporary.store, 0)
    await using foreign = await session(temporary.file)
    await foreign.query('begin')
    await foreign.query('select 1 from project for no key update')
    const began = performance.now()
    await expect(happens(temporary.store, 1)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'database_locked',
    })
    expect(performance.now() - began).toBeGreaterThan(9_500)
    await foreign.query('rollback')
    expect(await happens(temporary.store, 1)).toBe(1)
    const { rows } = await foreign.query<{ open: number }>(
      `select count(*)::int as open from pg_stat_activity
        where datname = current_database() and state like 'idle in transaction%'`,
    )
    expect(rows[0]?.open).toBe(0)
  })

  test('who waits together is recorded together, and what is wrong with one is its own', async () => {
    await using temporary = await temporaryPostgresStore()
    const { store } = temporary
    await happens(store, 0)
    const sent = statementsSent()
    await using foreign = await session(temporary.file)
    await foreign.query('begin')
    await foreign.query('select 1 from project for no key update')
    const deciding = (decide: (head: number) => number) =>
      store.record({
        actor: agent,
        at: 1,
        decide: async ({ eventLog: log }) => {
          const head = await log.head()
          return { events: [started(decide(head))], answer: head }
        },
      })
    const refused = new Failure('REFUSED', 'Not this one.')
    // The first two go alone: there is nobody to wait for.
    const answers = [
      deciding(() => 1),
      deciding(() => 2),
      deciding(() => 3),
      happens(store, 4, 'same'),
      deciding(() => {
        throw refused
      }),
      happens(store, 4, 'same'),
      deciding(() => 5),
    ]
    await foreign.query('rollback')
    const found = await Promise.allSettled(answers)
    const [one, two, three, same, no, again, five] = found.map((answer) =>
      answer.status === 'fulfilled' ? answer.value : answer.reason,
    )
    expect([same, no, again]).toEqual([4, refused, 4])
    // Each decided by what those before it had written, and the fourth wrote one log entry.
    expect(new Set([one, two, three, five]).size).toBe(4)
    expect(sent.filter(({ sql }) => /for no key update/.test(sql))).toHaveLength(3)

    // A bug in one, and what the database refuses of another: then each goes alone.
    const bug = new TypeError('x is not a function')
    const others = await Promise.allSettled([
      ...[6, 7, 8].map((number) => deciding(() => number)),
      deciding(() => {
        throw bug
      }),
      deciding(() => 1),
      deciding(() => 9),
    ])
    expect(others.map(({ status }) => status === 'fulfilled')).toEqual([true, true, true, false, false, true])
    expect(others[3]).toMatchObject({ reason: bug })
    expect(others[4]).toMatchObject({ reason: { message: expect.stringMatching(/unique|duplicate/i) } })
    await expectWhole(store, 10)

    // Where writing ends, nothing is recorded behind that.
    await foreign.query('begin')
    await foreign.query('select 1 from project for no key update')
    const nothing = () =>
      store.record({ actor: agent, at: 1, decide: async () => ({ events: [], answer: 1 }) })
    const ended = { kind: 'project.ended', to: 'elsewhere' } as const
    const last = [
      nothing(),
      nothing(),
      store.record({ actor: agent, at: 1, decide: async () => ({ events: [ended], answer: 1 }) }),
      deciding(() => 10),
    ]
    await foreign.query('rollback')
    expect((await Promise.allSettled(last)).at(-1)).toMatchObject({
      reason: { code: 'REFUSED', message: expect.stringMatching(/goes on at elsewhere/) },
    })
    await expectWhole(store, 10)
  })

  test('64 callers over one connection are all answered', async () => {
    await using temporary = await temporaryPostgresStore()
    await happens(temporary.store, 0)
    const narrow = new URL(temporary.file)
    narrow.searchParams.set('pool', '1')
    const store = otherWay(temporary, narrow.href)
    const numbers = Array.from({ length: 64 }, (_, number) => number + 1)
    const both = numbers.map(async (number) => {
      await store.view(({ eventLog: log }) => log.head())
      return happens(store, number)
    })
    expect(await Promise.all(both)).toEqual(numbers)
    await store.close()
    await expectWhole(temporary.store, 65)
  })

  test('a server that cannot be reached is told after ten seconds, and others do not wait as long again', async () => {
    await using temporary = await temporaryPostgresStore()
    await happens(temporary.store, 0)
    await using proxy = await cuttingProxy(temporary.file)
    const through = otherWay(temporary, proxy.url)
    expect(await happens(through, 1)).toBe(1)
    await proxy.close()
    const began = performance.now()
    const refused = await Promise.allSettled([2, 3, 4, 5].map((number) => happens(through, number)))
    expect(refused.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    expect(performance.now() - began).toBeGreaterThan(9_500)
    // One who waited as long again would be told after twenty.
    expect(performance.now() - began).toBeLessThan(19_000)
    expect(await through.unreadiness()).toMatch(/cannot be reached/)
    await proxy.open()
    expect(await happens(through, 2)).toBe(2)
    expect(await through.unreadiness()).toBeNull()
    await through.close()
    await expectWhole(temporary.store, 3)
  })
})
