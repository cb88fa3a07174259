import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { amount } from '../../support/amount.ts'
import { awakeTime } from '../../support/awake-time.ts'
import { emptyPostgres, isPostgresLeftOut } from '../../support/postgres/database.ts'
import type { Answer } from '../../support/project.ts'
import { jsonOf } from './http-project.ts'
import { type ServeHome, type Serving, serveHome } from './serve-process.ts'

interface Served extends Serving {
  readonly at: ServeHome
  /** What its connections are called. */
  readonly name: string
}

interface Servers extends AsyncDisposable {
  readonly all: readonly [Served, Served, Served]
  /** Of an admin, for whom every server is open. */
  readonly token: string
  /** Asks the database beside them. */
  readonly asked: (statement: string) => Promise<readonly Answer[]>
  /** Waits where it asked too often. */
  readonly post: (server: Served, operation: string, input: object, more?: Post) => Promise<Response>
}

interface Post {
  readonly key?: string
  readonly token?: string
}

/** Three processes on one database, on machines of their own, which serve the project of the first one's folder. */
async function threeServers(): Promise<Servers> {
  const database = await emptyPostgres()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const started = async (name: string, inFolder: boolean): Promise<Served> => {
    const at = serveHome()
    const url = new URL(database.url)
    url.searchParams.set('application_name', name)
    at.environment['WAYMARK_DATABASE'] = url.href
    const serving = await at.serve(inFolder ? at.repository('shop') : at.home, '--port', '0')
    return { ...serving, at, name }
  }
  const one = await started('one', true)
  const made = one.at.run(one.at.home, 'token', 'create', '--admin', '--person', 'Ada', '--format', 'json')
  if (made.code !== 0) throw new Error(`no token: ${made.error}`)
  const token: string = JSON.parse(made.out).secret
  const post: Servers['post'] = async (server, operation, input, { key, token: other } = {}) => {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${server.port}/p/shop/api/${operation}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${other ?? token}`,
          'Content-Type': 'application/json',
          ...(key !== undefined && { 'Idempotency-Key': key }),
        },
        body: JSON.stringify(input),
      })
      if (answer.status !== 429) return answer
      await sleep(100)
    }
  }
  expect((await post(one, 'taskman_phase_add', { id: 'P-0', name: 'Begin' })).status).toBe(200)
  const [two, three] = [await started('two', false), await started('three', false)]
  return {
    all: [one, two, three],
    token,
    asked: async (statement) => (await client.query(statement)).rows,
    post,
    async [Symbol.asyncDispose]() {
      for (const { child } of [one, two, three]) child.kill('SIGKILL')
      await client.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

// Whoever has locked a row has a number.
const opensInTransaction = (name: string) =>
  `select pid from pg_stat_activity where datname = current_database() and application_name = '${name}'
    and backend_xid is not null and state like 'idle in transaction%'`

describe.skipIf(isPostgresLeftOut)('several processes that serve one database', () => {
  test('one is killed under load: its clients go on at others, nothing is lost or doubled, and the rest ends in order', async () => {
    await using servers = await threeServers()
    const { all, post, asked } = servers
    const [one, two, three] = all
    const until = performance.now() + amount({ test: 3_000, soak: 20_000 })
    const acknowledged: string[] = []
    let moved = 0
    const clients = Array.from({ length: 6 }, async (_, client) => {
      let at = client
      // A list of phases ends after a thousand.
      for (let number = 0; (performance.now() < until || moved === 0) && number < 160; number += 1) {
        const id = `P-${client}-${number}`
        for (;;) {
          const server = all[at % all.length] ?? one
          const answer = await post(server, 'taskman_phase_add', { id, name: id }, { key: id }).catch(
            () => null,
          )
          if (answer?.status === 200) break
          if (answer) throw new Error(`${answer.status}: ${await answer.text()}`)
          moved += 1
          at += 1
        }
        acknowledged.push(id)
      }
    })
    await sleep(1_000)
    one.child.kill('SIGKILL')
    await Promise.all(clients)
    expect(moved).toBeGreaterThan(0)
    // The answer of each key is the same again, at another server than before.
    for (const id of acknowledged.slice(-5))
      expect(await jsonOf(post(three, 'taskman_phase_add', { id, name: id }, { key: id }))).toMatchObject({
        id,
      })
    const { phases } = await jsonOf(post(two, 'taskman_phase_list', {}))
    expect(phases.map(({ id }: Answer) => id).toSorted()).toEqual(['P-0', ...acknowledged].toSorted())
    const doctor = await jsonOf(post(two, 'doctor', {}))
    const found = doctor.checks.filter(({ check }: Answer) => check === 'log' || check === 'tables')
    expect(found.length).toBeGreaterThan(0)
    expect(found.filter(({ ok }: Answer) => !ok)).toEqual([])
    for (const { child } of [two, three]) child.kill('SIGTERM')
    expect((await Promise.all([two.ended, three.ended])).map(({ code }) => code)).toEqual([0, 0])
    // The server of the database takes its time to notice that somebody has left.
    await expect
      .poll(() =>
        asked(`select application_name from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`),
      )
      .toEqual([])
  })

  test('one that is stopped inside a transaction holds the others up for five seconds at most, and goes on', async () => {
    await using servers = await threeServers()
    const { all, post, asked } = servers
    const [one, two] = all
    let isOver = false
    const sent: string[] = []
    const writing = Array.from({ length: 4 }, async (_, client) => {
      for (let number = 0; !isOver; number += 1) {
        const id = `P-${client}-${number}`
        const answer = await post(one, 'taskman_phase_add', { id, name: id }, { key: id })
        if (answer.status === 200) sent.push(id)
        else await sleep(100)
      }
    })
    let isCaught = false
    for (let round = 0; round < 2_000 && !isCaught; round += 1) {
      one.child.kill('SIGSTOP')
      await sleep(3)
      isCaught = (await asked(opensInTransaction('one'))).length > 0
      if (!isCaught) one.child.kill('SIGCONT')
      await sleep(Math.random() * 4)
    }
    expect(isCaught).toBe(true)
    isOver = true
    const answering = post(two, 'taskman_phase_add', { id: 'P-other', name: 'Other' }, { key: 'other' })
    expect(await awakeTime(answering)).toBeLessThan(7_000)
    expect((await answering).status).toBe(200)
    one.child.kill('SIGCONT')
    await Promise.all(writing)
    const { phases } = await jsonOf(post(one, 'taskman_phase_list', {}))
    expect(phases.map(({ id }: Answer) => id).toSorted()).toEqual(['P-0', 'P-other', ...sent].toSorted())
  })

  test('a token that is revoked at one is refused by another within five seconds, and its live feed there ends', async () => {
    await using servers = await threeServers()
    const { all, post, token } = servers
    const [one, two, three] = all
    const made = await jsonOf(post(one, 'token_create', { name: 'builder', kind: 'agent' }))
    const feed = new WebSocket(`ws://127.0.0.1:${three.port}/p/shop/ws`, {
      headers: { Authorization: `Bearer ${made.secret}` },
    })
    onTestFinished(() => feed.terminate())
    await once(feed, 'message')
    const closing = once(feed, 'close')
    const revoking = post(two, 'token_revoke', { token: made.id }, { token })
    expect(await awakeTime(Promise.all([revoking, closing]))).toBeLessThan(5_000)
    expect((await revoking).status).toBe(200)
    expect((await closing)[0]).toBe(4401)
    expect((await post(three, 'whoami', {}, { token: made.secret })).status).toBe(401)
  })
})
