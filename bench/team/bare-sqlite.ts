import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { type Interval, obey } from './child.ts'

// The same transaction on SQLite, each commit on the disk before it is answered. Word: the file. Each writer is a thread
// with a connection of its own.

export interface BareSqliteOrder {
  readonly writers: number
  readonly milliseconds: number
}

const thread = new URL('bare-sqlite-thread.mjs', import.meta.url)

async function work(file: string, { writers, milliseconds }: BareSqliteOrder): Promise<Interval> {
  const gate = new Int32Array(new SharedArrayBuffer(4)) // opened when all are there
  const until = new Float64Array(new SharedArrayBuffer(8)) // when they stop, in milliseconds since the epoch
  const threads = Array.from(
    { length: writers },
    () => new Worker(thread, { workerData: { file, gate, until } }),
  )
  await Promise.all(threads.map((writer) => once(writer, 'message')))
  const { user, system } = process.cpuUsage()
  const written = threads.map((writer) => once(writer, 'message'))
  const begun = performance.now()
  until[0] = Date.now() + milliseconds
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  const spent = (await Promise.all(written)).flatMap(([some]: Float64Array[]) => [...(some ?? [])])
  const wall = performance.now() - begun
  const after = process.cpuUsage()
  return { events: spent.length, spent, wall, cpu: (after.user + after.system - user - system) / 1000 }
}

const [file = ''] = process.argv.slice(2)
const database = new Database(file)
database.pragma('journal_mode = wal')
database.exec(`
  create table bare_project (id integer primary key, seq integer not null, head text not null);
  create table bare_task (id integer primary key, progress integer not null, last_seq integer not null);
  create table bare_attempt (id integer primary key, progress integer not null, last_seq integer not null);
  create table bare_fact (project_id integer, seq integer, at integer, actor text, body text, hash text,
    primary key (project_id, seq)) without rowid;
  insert into bare_project values (0, 0, '');
  insert into bare_task values (0, 0, 0);
  insert into bare_attempt values (0, 0, 0);`)
database.close()
obey(
  (order: BareSqliteOrder) => work(file, order),
  async () => undefined,
)
