import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { MissionId, PersonId } from '../../../src/kernel/id.ts'
import { serverProject } from '../../../src/people/domain/identity.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { type PostgresTimes, usualTimes } from '../../../src/store/postgres/database.ts'
import type { FolderProjectQuery } from '../../../src/store/postgres/project.ts'
import { openPostgresStore, projectsOf } from '../../../src/store/postgres/store.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { schemaVersion } from '../../../src/store/schema/schema.ts'
import { amount, soakTest } from '../../support/amount.ts'
import { awakeTime } from '../../support/awake-time.ts'
import { agent, aMission } from '../../support/entities.ts'
import { cuttingProxy } from '../../support/postgres/cutting-proxy.ts'
import {
  emptyPostgres,
  isPostgresLeftOut,
  plantedPostgres,
  sharedPostgres,
} from '../../support/postgres/database.ts'
import { happened } from '../events.ts'

const started = (id: string) =>
  ({ kind: 'mission.started', mission: aMission({ id: id as MissionId }) }) as const

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-folder-')))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

let servers = 0

/** A store with connections of its own, as another server has them. */
function server(
  url: string,
  project: Partial<FolderProjectQuery> & { readonly root: string },
  times?: PostgresTimes,
): Store {
  const own = new URL(url)
  servers += 1
  own.searchParams.set('application_name', `waymark-server-${servers}`)
  const wanted = { name: null, machine: 'laptop', ...project }
  const store = openPostgresStore({ url: own.href, project: wanted, ids: randomIds, ...(times && { times }) })
  onTestFinished(() => store.close())
  return store
}

async function asked(url: string, statement: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

async function expectWhole(store: Store): Promise<readonly string[]> {
  const { events, check } = await store.view(async ({ eventLog: log }) => ({
    events: await log.since(0, 100_000),
    check: await log.verify(),
  }))
  expect(check.brokenAt).toBeNull()
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  return events.flatMap(({ body }) => (body.kind === 'mission.started' ? [body.mission.id] : []))
}

/** What a follower is told until it has heard of a mission. */
async function heardUntil(store: Store, mission: string): Promise<readonly number[]> {
  const heard: number[] = []
  for await (const events of store.follow(0, AbortSignal.timeout(50_000))) {
    heard.push(...events.map(({ seq }) => seq))
    if (events.some(({ body }) => body.kind === 'mission.started' && body.mission.id === mission)) break
  }
  return heard
}

describe.skipIf(isPostgresLeftOut)('several servers on one database', () => {
  test('several that start on an empty one make its schema once, and one project of one folder', async () => {
    await using database = await emptyPostgres()
    const root = folder()
    const stores = Array.from({ length: amount({ test: 4, soak: 8 }) }, () => server(database.url, { root }))
    expect(await stores[0]?.health()).toMatchObject({ exists: false, schemaVersion: null })
    await Promise.all(stores.map((store, number) => happened(store, 1, started(`m-${number}`))))
    const [first] = stores
    if (!first) throw new Error('there are several')
    expect((await expectWhole(first)).toSorted()).toEqual(stores.map((_, number) => `m-${number}`))
    expect(await asked(database.url, 'select version::int from waymark_schema')).toEqual([
      { version: schemaVersion },
    ])
    expect(await projectsOf({ url: database.url })).toHaveLength(1)
  })

  test('refuses a database of an older schema, and changes nothing', async () => {
    await using database = await plantedPostgres()
    const root = folder()
    await happened(server(database.url, { root }), 1, started('m-1'))
    await asked(database.url, 'update waymark_schema set version = 23')
    const later = server(database.url, { root, machine: 'another' })
    const refusal = {
      code: 'UNAVAILABLE',
      message: expect.stringContaining('schema 23'),
      hint: expect.stringContaining('empty database'),
    }
    await expect(later.view(({ eventLog: log }) => log.head())).rejects.toMatchObject(refusal)
    await expect(happened(later, 2, started('m-2'))).rejects.toMatchObject(refusal)
    expect(await later.unreadiness()).toContain('schema 23')
    expect((await later.health()).warnings.join(' ')).toContain('schema 23')
    expect(await asked(database.url, 'select version::int from waymark_schema')).toEqual([{ version: 23 }])
  })

  test('writers of three servers leave no gap, and every acknowledged key is recorded once', async () => {
    const url = await sharedPostgres()
    const root = folder()
    const stores = Array.from({ length: 3 }, () => server(url, { root }))
    const until = performance.now() + amount({ test: 0, soak: 20_000 })
    const acknowledged: string[] = []
    const writing = Array.from({ length: 16 }, async (_, writer) => {
      for (let number = 0; number < 4 || performance.now() < until; number += 1) {
        const store = stores[(writer + number) % stores.length]
        const id = `m-${writer}-${number}`
        const idempotency = { key: id, owner: 'a', connection: null, operation: 'start', inputHash: 'x' }
        const decide = async () => ({ events: [started(id)], answer: id })
        for (let sent = 0; sent < 2; sent += 1)
          expect(await store?.record({ actor: agent, at: 1, idempotency, decide })).toBe(id)
        acknowledged.push(id)
      }
    })
    await Promise.all(writing)
    const [first] = stores
    if (!first) throw new Error('there are three')
    expect((await expectWhole(first)).toSorted()).toEqual(acknowledged.toSorted())
    expect(acknowledged.length).toBeGreaterThanOrEqual(64)
  })

  test('one that meets a newer schema reads and does not write, and says why', async () => {
    await using database = await plantedPostgres()
    const store = server(database.url, { root: folder() })
    await happened(store, 1, started('m-1'))
    expect(await store.unreadiness()).toBeNull()
    await asked(database.url, 'update waymark_schema set version = 999')
    await expect(happened(store, 2, started('m-2'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('schema 999'),
    })
    expect(await store.unreadiness()).toContain('schema 999')
    expect(await store.view(({ eventLog: log }) => log.head())).toBe(2)
    expect((await store.health()).warnings.join(' ')).toContain('schema 999')
  })

  test('one that may lose what was acknowledged, or never looks after its plans, is warned of', async () => {
    const url = await sharedPostgres()
    const [settings] = await asked(
      url,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
        current_setting('autovacuum') as autovacuum`,
    )
    const { warnings } = await server(url, { root: folder() }).health()
    for (const [name, value] of Object.entries(settings ?? {}))
      expect([name, warnings.some((warning) => warning.startsWith(`${name} is off`))]).toEqual([
        name,
        value === 'off',
      ])
  })

  soakTest(
    'one that was stopped inside a transaction holds the others up until its time is over',
    async () => {
      const url = await sharedPostgres()
      const root = folder()
      // The usual times in the soak run: five seconds, and ten for whoever waits.
      const times =
        amount({ test: 1, soak: 0 }) === 1 ? { awayMs: 10_000, lockMs: 3_300, idleMs: 300 } : usualTimes
      const [one, other] = [server(url, { root }, times), server(url, { root }, times)]
      await happened(one, 1, started('m-1'))
      let decisions = 0
      const holding = Promise.withResolvers<void>()
      const goesOn = Promise.withResolvers<void>()
      const stopped = one.record({
        actor: agent,
        at: 2,
        decide: async ({ eventLog: log }) => {
          decisions += 1
          // What is read was read under the lock.
          await log.head()
          holding.resolve()
          // As long as a process that is stopped asks nothing.
          if (decisions === 1) await goesOn.promise
          return { events: [started('m-2')], answer: null }
        },
      })
      await holding.promise
      const writing = happened(other, 3, started('m-3')).finally(() => goesOn.resolve())
      expect(await awakeTime(writing)).toBeLessThan(9_000)
      await stopped
      expect(decisions).toBe(2)
      expect(await expectWhole(one)).toEqual(['m-1', 'm-3', 'm-2'])
    },
  )

  test('whoever follows sees each log entry once and in order, however often the listening connection ends', async () => {
    const url = await sharedPostgres()
    const root = folder()
    const [writer, reader] = [server(url, { root }), server(url, { root })]
    await happened(writer, 1, started('m-0'))
    const hearing = heardUntil(reader, 'm-last')
    const rounds = amount({ test: 5, soak: 20 })
    for (let round = 1; round <= rounds; round += 1) {
      await happened(writer, round, started(`m-${round}`))
      await asked(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'waymark-listen' and datname = current_database()`,
      )
    }
    await happened(writer, rounds + 1, started('m-last'))
    expect(await hearing).toEqual(Array.from({ length: rounds + 3 }, (_, index) => index + 1))
  })

  test('a follower is told at once, and without LISTEN by the look alone', async () => {
    const url = await sharedPostgres()
    const root = folder()
    const writer = server(url, { root })
    await happened(writer, 1, started('m-0'))
    const deaf = new URL(url)
    await using proxy = await cuttingProxy(deaf.href)
    proxy.instead = (statement) => (statement.startsWith('listen') ? '0A000' : null)
    const reader = server(proxy.url, { root })
    const hearing = heardUntil(reader, 'm-1')
    await sleep(500)
    const waited = awakeTime(hearing)
    await happened(writer, 2, started('m-1'))
    expect(await hearing).toEqual([1, 2, 3])
    // Where LISTEN is taken and nothing is heard, it is tried again after ten.
    expect(await waited).toBeLessThan(9_000)
  })

  test('a folder’s project is found by its id, by a name, or by machine and path', async () => {
    await using database = await plantedPostgres()
    const root = folder()
    const { url } = database
    await happened(server(url, { root }), 1, started('m-laptop'))
    const missionsOf = (store: Store) =>
      store.view(async ({ missions }) => (await missions.list({ limit: 9 })).items.map(({ item }) => item.id))
    const here = await projectsOf({ url })
    expect(await missionsOf(server(url, { root }))).toEqual(['m-laptop'])
    // The id in the folder is what a folder says of itself; without it the machine counts.
    rmSync(join(root, '.waymark'), { recursive: true })
    expect(await missionsOf(server(url, { root }))).toEqual(['m-laptop'])
    expect(await missionsOf(server(url, { root, machine: 'desktop' }))).toEqual([])
    await happened(server(url, { root, machine: 'desktop' }), 2, started('m-desktop'))
    expect(await missionsOf(server(url, { root, machine: 'desktop' }))).toEqual(['m-desktop'])
    const name = here[0]?.name ?? ''
    expect(await projectsOf({ url })).toEqual([...here, { id: expect.any(String), name: `${name}-2` }])
    const other = folder()
    expect(await missionsOf(server(url, { root: other, name }))).toEqual(['m-laptop'])
    await happened(server(url, { root: other, name: 'The Shop' }), 3, started('m-shop'))
    expect((await projectsOf({ url })).map((project) => project.name)).toContain('the-shop')
  })

  test('the project of the server itself is made like any other, and is nobody’s folder', async () => {
    await using database = await plantedPostgres()
    const of = { url: database.url, ids: randomIds }
    const persons = openPostgresStore({ ...of, project: { id: serverProject } })
    onTestFinished(() => persons.close())
    await expect(happened(persons, 1, started('m-1'))).rejects.toMatchObject({ code: 'REFUSED' })
    const person = {
      id: 'u-1' as PersonId, // a brand
      name: 'Ann',
      email: null,
      issuer: null,
      subject: null,
      admin: true,
      disabledAt: null,
      createdAt: 1,
    }
    await happened(persons, 1, { kind: 'person.added', person })
    expect(await persons.inspect()).toMatchObject({ events: 2, brokenAt: null, differing: 0 })
    expect(await projectsOf({ url: database.url })).toEqual([])
    const nobody = openPostgresStore({ ...of, project: { id: 'p-nobody' } })
    onTestFinished(() => nobody.close())
    await expect(happened(nobody, 1, started('m-1'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('what was changed in its tables is found, and made again from the log entries', async () => {
    await using database = await plantedPostgres()
    const store = server(database.url, { root: folder() })
    await happened(store, 1, started('m-1'), started('m-2'))
    expect(await store.inspect()).toMatchObject({ events: 3, differing: 0, damage: null, anchor: null })
    await asked(database.url, `update mission set name = 'Another' where id = 'm-1'`)
    await asked(database.url, `delete from mission where id = 'm-2'`)
    expect(await store.inspect()).toMatchObject({ differing: 2 })
    expect(await store.repair(1)).toMatchObject({ backup: null, events: 3, tables: ['mission'], rows: 2 })
    expect(await store.inspect()).toMatchObject({ differing: 0 })
    await asked(database.url, `update project_event set body = '{}' where seq = 2`)
    expect(await store.inspectChain()).toMatchObject({ brokenAt: 2 })
    await expect(store.repair(1)).rejects.toMatchObject({
      code: 'REFUSED',
      hint: expect.stringMatching(/pg_restore/),
    })
  })

  test.each([
    ['backup', (store: Store) => store.backup('copy.db'), /pg_dump/],
    ['putBack', (store: Store) => store.putBack('copy.db', 1), /pg_restore/],
    ['accept', (store: Store) => store.accept(1), /pg_restore/],
  ] as const)('%s says what is done instead, and never the password', async (_, ask, way) => {
    const url = await sharedPostgres()
    const store = server(url, { root: folder() })
    const { password } = new URL(url)
    const failure = await ask(store).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'REFUSED', hint: expect.stringMatching(way) })
    expect(JSON.stringify([String(failure), failure, await store.health()])).not.toContain(password)
  })
})
