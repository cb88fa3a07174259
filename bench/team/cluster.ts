import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { toldBy } from '../../test/support/postgres/cluster.ts'

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
  const url = await toldBy(folder)
  const asked = async <Row>(statement: string): Promise<readonly Row[]> => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  }
  await asked('alter system set track_commit_timestamp = on') // when each log entry was committed is asked afterwards
  keeper.send('kill')
  await once(keeper, 'message')
  keeper.send('start')
  await once(keeper, 'message')
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
