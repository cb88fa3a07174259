import { fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { errorCode } from '../../../src/kernel/failure.ts'
import { serverAt } from '../../../src/store/postgres/server.ts'
import { toldBy } from './cluster.ts'
import { folderOfRun } from './run.ts'

const wanted = process.env['WAYMARK_TEST_POSTGRES']

/** The person left everything out that needs PostgreSQL. */
export const isPostgresLeftOut = wanted === 'none'

/** A database of a test's own. */
export interface TemporaryDatabase extends AsyncDisposable {
  readonly url: string
  readonly name: string
}

export interface DatabaseOptions {
  /** The language whose order of text the database keeps, such as `tr-TR`; without one the order of its bytes. */
  readonly language?: string
  /** The name of a database that it is a copy of. */
  readonly copyOf?: string
}

/** An empty database on the server of this run. `await using` drops it with everything that is connected to it. */
export async function emptyPostgres({ language, copyOf }: DatabaseOptions = {}): Promise<TemporaryDatabase> {
  const name = `waymark_test_${randomBytes(6).toString('hex')}`
  const order =
    language === undefined ? `locale 'C'` : `locale 'C' locale_provider icu icu_locale '${language}'`
  const from = copyOf ?? `template0 encoding 'UTF8' ${order}`
  await asked(`create database ${name} template ${from}`)
  const url = new URL(await serverOfRun())
  url.pathname = `/${name}`
  return {
    url: url.href,
    name,
    async [Symbol.asyncDispose]() {
      await drop(name)
    },
  }
}

/** Who is connected is told to end; on a busy machine that lasts longer than the five seconds that the server waits. */
async function drop(name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await asked(`drop database if exists ${name} with (force)`)
      return
    } catch (error) {
      const isInUse = errorCode(error) === '55006'
      if (!isInUse || attempt === 5) throw error
    }
  }
}

let template: Promise<string> | null = null

/** The same with the newest schema, in which nothing is recorded. The schema is made once for a process, and copied from then on. */
export async function plantedPostgres(): Promise<TemporaryDatabase> {
  template ??= makeTemplate()
  return emptyPostgres({ copyOf: await template })
}

async function makeTemplate(): Promise<string> {
  const { name, url } = await emptyPostgres()
  const server = serverAt({ url })
  await server.ensureTables()
  await server.leave()
  return name
}

let shared: Promise<string> | null = null

/** The URL of a database that the tests of one process share, each with projects of its own. It goes with the server. */
export function sharedPostgres(): Promise<string> {
  shared ??= emptyPostgres().then(({ url }) => {
    // Its connections stay for the next test.
    serverAt({ url })
    return url
  })
  return shared
}

/** Runs a statement on the server's own database. */
export async function asked(statement: string): Promise<readonly object[]> {
  const client = new Client({ connectionString: await serverOfRun() })
  await client.connect()
  try {
    return (await client.query<object>(statement)).rows
  } finally {
    await client.end()
  }
}

let server: Promise<string> | null = null

/** The URL of the server of this run, which is started by the first who asks. Fails with a sentence. */
export function serverOfRun(): Promise<string> {
  server ??= wanted !== undefined && /^postgres(ql)?:/.test(wanted) ? Promise.resolve(wanted) : started()
  return server
}

async function started(): Promise<string> {
  const known = process.env[folderOfRun]
  if (known === undefined) throw new Error('This run of tests has no folder for PostgreSQL.')
  const { folder, owner } = JSON.parse(known) as { folder: string; owner: number } // as `run.ts` wrote it
  if (isFirst(folder)) keep(folder, owner, [wanted ?? ''])
  return toldBy(folder)
}

/** Whether no other process of the run made the folder, which the server's user may enter. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

function keep(folder: string, owner: number, words: readonly string[]): void {
  const script = join(import.meta.dirname, 'keeper.ts')
  const keeper = spawn(process.execPath, [script, folder, String(owner), ...words], {
    detached: true,
    stdio: 'ignore',
  })
  writeFileSync(join(folder, 'keeper'), String(keeper.pid))
  keeper.unref()
}

/** A server of a test's own that outlives no crash of this process, and whose own crash loses nothing acknowledged. */
export interface OwnServer extends AsyncDisposable {
  readonly url: string
  /** Ends it as a crash would. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

export async function ownServer(): Promise<OwnServer> {
  const known = process.env[folderOfRun]
  if (known === undefined) throw new Error('This run of tests has no folder for PostgreSQL.')
  const folder = `${(JSON.parse(known) as { folder: string }).folder}-${randomBytes(3).toString('hex')}` // as `run.ts` wrote it
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  const from = wanted !== undefined && /^postgres(ql)?:/.test(wanted) ? '' : (wanted ?? '')
  const keeper = fork(join(import.meta.dirname, 'keeper.ts'), [folder, String(process.pid), from, 'durable'])
  const done = (word: string) =>
    new Promise<void>((resolve) => {
      const hear = (message: unknown) => {
        if (message !== word) return
        keeper.off('message', hear)
        resolve()
      }
      keeper.on('message', hear)
      keeper.send(word)
    })
  const url = await toldBy(folder)
  return {
    url,
    kill: () => done('kill'),
    start: () => done('start'),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => keeper.once('exit', resolve))
      keeper.kill('SIGTERM')
      await ended
    },
  }
}
