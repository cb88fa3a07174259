import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { MissionId } from '../../../src/kernel/id.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { aMission } from '../../support/entities.ts'
import { emptyPostgres, isPostgresLeftOut } from '../../support/postgres/database.ts'
import { freePort } from '../../support/postgres/free-port.ts'
import { transactionPooler } from '../../support/postgres/pooler.ts'
import { happened } from '../events.ts'

const pgbouncer = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync)

const started = (number: number) =>
  ({ kind: 'mission.started', mission: aMission({ id: `m-${number}` as MissionId }) }) as const

/** A pooler that gives each transaction another connection. Answers the URL through it. */
async function pooled(url: string): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-pooler-')))
  chmodSync(folder, 0o777)
  const { hostname, port, username, password } = new URL(url)
  const own = await freePort()
  const file = join(folder, 'pooler.ini')
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
server_round_robin = 1
`,
  )
  const isRoot = process.getuid?.() === 0
  const pooler = spawn(pgbouncer ?? '', isRoot ? ['-u', 'nobody', file] : [file], { stdio: 'ignore' })
  onTestFinished(() => {
    pooler.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  for (let round = 0; round < 1_000 && !(await isOpen(own)); round += 1) await sleep(20)
  const through = new URL(url)
  through.port = String(own)
  return through.href
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

interface Pooling {
  readonly name: string
  /** Answers the URL through it, and how many times a transaction got another connection where that is known. */
  readonly over: (url: string) => Promise<{ readonly url: string; readonly changes?: () => number }>
}

const own: Pooling = {
  name: 'of the tests’ own',
  over: async (url) => {
    const pooler = await transactionPooler(url)
    onTestFinished(() => pooler[Symbol.asyncDispose]())
    return pooler
  },
}

const poolers: readonly Pooling[] = pgbouncer
  ? [own, { name: 'PgBouncer', over: async (url) => ({ url: await pooled(url) }) }]
  : [own]

describe.skipIf(isPostgresLeftOut).each(poolers)('behind a pooler in transaction mode, $name', ({ over }) => {
  test('everything works, and whoever follows finds what is new by looking', async () => {
    await using database = await emptyPostgres()
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-folder-')))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const { url, changes } = await over(database.url)
    const project = { root, name: null, machine: 'laptop' }
    const stores = ['one', 'two'].map((name) => {
      const own = new URL(url)
      own.searchParams.set('application_name', name)
      const store = openPostgresStore({ url: own.href, project, ids: randomIds })
      onTestFinished(() => store.close())
      return store
    })
    const [one, two] = stores
    if (!one || !two) throw new Error('there are two')
    await happened(one, 1, started(0))
    const heard: number[] = []
    const hearing = (async () => {
      for await (const events of two.follow(0, AbortSignal.timeout(50_000))) {
        heard.push(...events.map(({ seq }) => seq))
        if (heard.length >= 42) return
      }
    })()
    const numbers = Array.from({ length: 40 }, (_, number) => number + 1)
    await Promise.all(
      numbers.map(async (number) => {
        await happened(number % 2 === 0 ? one : two, 2, started(number))
        await one.view(async ({ eventLog: log, missions }) => [await log.head(), await missions.find('m-0')])
      }),
    )
    await hearing
    expect(heard).toEqual(Array.from({ length: 42 }, (_, index) => index + 1))
    expect(await one.inspect()).toMatchObject({ events: 42, brokenAt: null, differing: 0 })
    if (changes) expect(changes()).toBeGreaterThan(20)
  })
})
