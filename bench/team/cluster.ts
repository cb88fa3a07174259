import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

/** A PostgreSQL of the benchmark's own, removed with it also where it is killed. */
export interface BenchedPostgres extends AsyncDisposable {
  readonly url: string
  readonly version: string
  /** The process that all others of the server come from. */
  readonly pid: () => number
  readonly asked: <Row>(statement: string) => Promise<readonly Row[]>
}

/** Starts one in a folder below `place`, which decides whether its commits reach a disk. */
export async function startPostgres(place: string): Promise<BenchedPostgres> {
  const folder = mkdtempSync(join(place, 'waymark-bench-postgres-'))
  chmodSync(folder, 0o755) // the server's user must enter it
  const script = join(import.meta.dirname, '..', '..', 'test', 'support', 'postgres', 'keeper.ts')
  const wanted = process.env['WAYMARK_TEST_POSTGRES'] ?? ''
  const keeper = fork(script, [folder, String(process.pid), wanted, 'durable'])
  const url = await told(folder)
  const asked = async <Row>(statement: string): Promise<readonly Row[]> => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  }
  await asked('alter system set track_commit_timestamp = on') // when each fact was committed is asked afterwards
  keeper.send('kill')
  await once(keeper, 'message')
  while (await answers(url)) await sleep(20)
  keeper.send('start')
  await once(keeper, 'message')
  for (let tries = 0; tries < 500 && !(await answers(url)); tries += 1) await sleep(20)
  const [row] = await asked<{ server_version: string }>('show server_version')
  return {
    url,
    version: row?.server_version.split(' ')[0] ?? '',
    pid: () => Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]),
    asked,
    async [Symbol.asyncDispose]() {
      keeper.kill('SIGTERM')
      await once(keeper, 'exit')
    },
  }
}

async function told(folder: string): Promise<string> {
  const file = join(folder, 'told')
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(10)) {
    if (!existsSync(file)) continue
    const { url, trouble } = JSON.parse(readFileSync(file, 'utf8')) as { url?: string; trouble?: string } // the keeper's
    if (url !== undefined) return url
    throw new Error(trouble)
  }
  throw new Error('PostgreSQL did not start within a minute.')
}

/** Whether it takes connections. */
async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url })
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}
