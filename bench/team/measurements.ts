import { closeSync, fdatasyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { cpus, loadavg, release, type } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { percentile } from '../live/percentile.ts'
import type { BareOrder } from './bare.ts'
import type { BareSqliteOrder } from './bare-sqlite.ts'
import { type Interval, startWorker, type Worker } from './child.ts'
import type { BenchedPostgres } from './cluster.ts'
import { cpuOfTree, type Pressure, watched } from './pressure.ts'
import type { Called, StoreOrder } from './store.ts'
import { tapped } from './wire.ts'

/** One figure of the table: what so many writers came to. Times are milliseconds, processor times are of one call. */
export interface Point extends Pressure {
  readonly what: string
  readonly writers: number
  readonly projects: number
  readonly eventsPerSecond: number
  readonly callsPerSecond: number
  readonly p50: number
  readonly p99: number
  /** Of the process that runs the operation. */
  readonly replicaCpu: number
  /** Of a process that only asks it. */
  readonly callerCpu: number
  readonly databaseCpu: number
  /** One question to the database and its answer, just before. */
  readonly roundTrip: number
}

/** How a call asks the database. */
export interface Statements {
  readonly called: Called
  readonly events: number
  /** Statements of the whole call, and of those the ones while it holds the project, without the commit. */
  readonly all: number
  readonly underLock: number
  readonly tripsBefore: number
  readonly tripsUnderLock: number
}

export interface Growth {
  readonly engine: 'SQLite' | 'PostgreSQL'
  readonly events: number
  /** Bytes that a thousand log entries added, with everything that is kept beside them. */
  readonly per1000Events: number
}

export interface Table {
  readonly points: readonly Point[]
  readonly growth: readonly Growth[]
}

export interface Measured {
  readonly at: string
  readonly machine: string
  readonly load: number
  readonly postgres: string
  readonly milliseconds: number
  readonly rounds: number
  readonly points: readonly Point[]
  readonly statements: readonly Statements[]
  readonly growth: readonly Growth[]
  /** Deciles of one flush of the disk, milliseconds. */
  readonly flushes: readonly number[]
  readonly trip: Trip
  readonly live: Live
  readonly replicas: readonly Point[]
}

/** One question without work and its answer, in milliseconds. */
export interface Trip {
  readonly roundTrip: number
  readonly replicaCpu: number
  readonly databaseCpu: number
}

export interface Live {
  readonly readers: number
  readonly events: number
  readonly eventsPerSecond: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly lost: number
  readonly doubled: number
  readonly load: number
  readonly roundTrip: number
  /** Processor time of all replicas for each log entry that one of them told. */
  readonly replicaCpu: number
}

export const writerCounts = [1, 8, 32, 128]
const writing: readonly Called[] = ['log_milestone', 'start_task', 'complete_task']

export interface Place {
  /** A folder on the disk that is measured. */
  readonly folder: string
  readonly postgres: BenchedPostgres
}

export interface Duration {
  readonly milliseconds: number
  readonly rounds: number
}

interface Row {
  readonly what: string
  readonly projects: number
  readonly pids: readonly number[]
  readonly isPostgres: boolean
  readonly run: (writers: number, milliseconds: number) => Promise<Interval>
}

export function machineHere(): string {
  const [processor] = cpus()
  return `Node ${process.versions.node}, ${type()} ${release()}, ${cpus().length} cores, ${processor?.model ?? 'an unknown processor'}`
}

/** The table: every row with every number of writers, in turns, so that what else the machine does weighs on all alike. */
export async function measurePoints(place: Place, duration: Duration): Promise<Table> {
  const { folder, postgres } = place
  const bare = await startWorker<BareOrder>('bare.ts', [postgres.url])
  const lite = await startWorker<BareSqliteOrder>('bare-sqlite.ts', [join(folder, 'bare.db')])
  const onSqlite = await startWorker<StoreOrder>('store.ts', [join(folder, 'store')])
  const onPostgres = await startWorker<StoreOrder>('store.ts', [join(folder, 'store-postgres'), postgres.url])
  const pids = [postgres.pid()]
  const bareRow = (projects: number, isPipelined: boolean): Row => ({
    what: `bare transaction, PostgreSQL${isPipelined ? ', pipelined' : ''}`,
    projects,
    pids: [bare.pid, ...pids],
    isPostgres: true,
    run: (writers, milliseconds) => bare.ask({ writers, projects, isPipelined, milliseconds }),
  })
  const storeRow =
    (worker: Worker<StoreOrder>, isPostgres: boolean, projects: number) =>
    (called: Called): Row => ({
      what: `${called}, ${isPostgres ? 'PostgreSQL' : 'SQLite'}`,
      projects,
      pids: isPostgres ? [worker.pid, ...pids] : [worker.pid],
      isPostgres,
      run: (callers, milliseconds) => worker.ask({ called, callers, projects, milliseconds }),
    })
  // The two whose ratio has a limit are run more often, in turns.
  const compared = [bareRow(1, true), storeRow(onPostgres, true, 1)('log_milestone')]
  const rows: readonly Row[] = [
    ...compared,
    {
      what: 'bare transaction, SQLite',
      projects: 1,
      pids: [lite.pid],
      isPostgres: false,
      run: (writers, milliseconds) => lite.ask({ writers, milliseconds }),
    },
    ...[...writing, 'get_context' as const].map(storeRow(onSqlite, false, 1)),
    bareRow(1, false),
    ...compared,
    storeRow(onPostgres, true, 1)('start_task'),
    storeRow(onPostgres, true, 1)('complete_task'),
    ...compared,
    bareRow(20, false),
    bareRow(20, true),
    ...writing.map(storeRow(onPostgres, true, 20)),
    storeRow(onPostgres, true, 1)('get_context'),
  ]
  for (const row of new Set(rows)) await row.run(8, row.what.startsWith('bare') ? 500 : 2_500) // what is run often is compiled
  await postgres.asked('vacuum analyze') // as a server does by itself within a minute: its plans are of empty tables until then
  const before = await sizes(place)
  const points: Point[] = []
  const events = new Map<Growth['engine'], number>()
  for (const writers of writerCounts) {
    console.error(`${writers} ${writers === 1 ? 'writer' : 'writers'} …`)
    const taken = new Map<Row, Taken[]>()
    for (let round = 0; round < duration.rounds; round += 1) {
      for (const row of rows) {
        const done = taken.get(row) ?? []
        taken.set(row, done)
        done.push(await beside(place, row, { writers, milliseconds: duration.milliseconds }))
      }
    }
    for (const [row, done] of taken) {
      points.push(pointOf(row, writers, done))
      const engine = row.isPostgres ? 'PostgreSQL' : 'SQLite'
      const made = row.what.startsWith('bare')
        ? 0
        : done.reduce((sum, { interval }) => sum + interval.events, 0)
      events.set(engine, (events.get(engine) ?? 0) + made)
    }
  }
  const after = await sizes(place)
  for (const worker of [bare, lite, onSqlite, onPostgres]) await worker.end()
  const growth = (['SQLite', 'PostgreSQL'] as const).map((engine): Growth => {
    const added = events.get(engine) ?? 0
    return {
      engine,
      events: added,
      per1000Events: Math.round(((after[engine] - before[engine]) / added) * 1000),
    }
  })
  return { points, growth }
}

/** What was seen beside a stretch of work; processor times are of the whole of it. */
export interface Beside extends Pressure {
  readonly databaseCpu: number
  /** Of servers that ran the operations, where the process that called did not. */
  readonly serverCpu: number | null
  readonly roundTrip: number
}

export interface Taken {
  readonly interval: Interval
  readonly beside: Beside
}

async function beside(
  place: Place,
  row: Row,
  { writers, milliseconds }: { readonly writers: number; readonly milliseconds: number },
): Promise<Taken> {
  const trip = row.isPostgres ? percentile(await roundTrips(place.postgres.url, 20), 50) : 0
  const pid = place.postgres.pid()
  const cpu = cpuOfTree(pid)
  const pressure = watched(row.pids)
  const interval = await row.run(writers, milliseconds)
  return {
    interval,
    beside: { ...pressure(), databaseCpu: cpuOfTree(pid) - cpu, serverCpu: null, roundTrip: trip },
  }
}

/** Of several stretches of the same work. */
export function pointOf(
  row: { readonly what: string; readonly projects: number; readonly isPostgres: boolean },
  writers: number,
  done: readonly Taken[],
): Point {
  const intervals = done.map(({ interval }) => interval)
  const sum = (of: (interval: Interval) => number) =>
    intervals.reduce((total, interval) => total + of(interval), 0)
  const mean = (of: (one: Beside) => number) =>
    done.reduce((total, one) => total + of(one.beside), 0) / done.length
  const spent = intervals.flatMap((interval) => [...interval.spent])
  const seconds = sum(({ wall }) => wall) / 1000
  const callers = sum(({ cpu }) => cpu)
  const servers = done.reduce<number | null>((total, { beside: { serverCpu } }) => {
    return serverCpu === null ? total : (total ?? 0) + serverCpu
  }, null)
  return {
    what: row.what,
    writers,
    projects: row.projects,
    eventsPerSecond: sum(({ events }) => events) / seconds,
    callsPerSecond: spent.length / seconds,
    p50: percentile(spent, 50),
    p99: percentile(spent, 99),
    replicaCpu: (servers ?? callers) / spent.length,
    callerCpu: servers === null ? 0 : callers / spent.length,
    databaseCpu: row.isPostgres ? (mean(({ databaseCpu }) => databaseCpu) * done.length) / spent.length : 0,
    roundTrip: mean(({ roundTrip }) => roundTrip),
    load: mean(({ load }) => load),
    others: mean(({ others }) => others),
    slowdown: mean(({ slowdown }) => slowdown),
  }
}

/** What calls ask the database, each alone and after it has been asked before. */
export async function measureStatements(place: Place): Promise<readonly Statements[]> {
  await using wire = await tapped(place.postgres.url)
  const worker = await startWorker<StoreOrder>('store.ts', [join(place.folder, 'tapped'), wire.url])
  const found: Statements[] = []
  for (const called of [...writing, 'get_context'] as const) {
    const order = { called, callers: 1, projects: 1, milliseconds: 150 }
    if (called !== 'complete_task') await worker.ask(order)
    wire.taken()
    const { events, spent } = await worker.ask(order)
    const { locked, others, waits } = wire.taken()
    const calls = spent.length
    const typical = locked.toSorted((one, other) => one.underLock.length - other.underLock.length)[calls >> 1]
    found.push({
      called,
      events: events / calls,
      all: Math.round(others / calls) + (typical?.statements.length ?? 0),
      underLock: typical?.underLock.length ?? 0,
      tripsBefore:
        Math.round(waits / calls) + (typical ? typical.roundTrips - typical.roundTripsUnderLock - 1 : 0),
      tripsUnderLock: Math.max(0, (typical?.roundTripsUnderLock ?? 0) - 1),
    })
  }
  await worker.end()
  return found
}

/** How long questions without work take, in milliseconds. */
export async function roundTrips(url: string, count: number): Promise<readonly number[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await questions(client, 5)
  const spent = await questions(client, count)
  await client.end()
  return spent
}

async function questions(client: Client, count: number): Promise<readonly number[]> {
  const spent: number[] = []
  for (let asked = 0; asked < count; asked += 1) {
    const begun = performance.now()
    await client.query({ name: 'one', text: 'select 1' })
    spent.push(performance.now() - begun)
  }
  return spent
}

export async function measureTrip({ postgres }: Place): Promise<Trip> {
  const count = 500
  await roundTrips(postgres.url, count)
  const cpu = process.threadCpuUsage()
  const databaseCpu = cpuOfTree(postgres.pid())
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  const spent = await questions(client, count)
  const found = {
    roundTrip: percentile(spent, 50),
    replicaCpu: (process.threadCpuUsage(cpu).user + process.threadCpuUsage(cpu).system) / 1000 / count,
    databaseCpu: (cpuOfTree(postgres.pid()) - databaseCpu) / count,
  }
  await client.end()
  return found
}

/** Deciles of writing a block to the disk for good. */
export function measureFlushes(folder: string): readonly number[] {
  const path = join(folder, 'flush')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(8192, 'x')
  writeSync(file, Buffer.alloc(16 * 2 ** 20))
  const spent: number[] = []
  for (let written = 0; written < 200; written += 1) {
    const begun = performance.now()
    writeSync(file, block, 0, block.length, (written % 2000) * block.length)
    fdatasyncSync(file)
    spent.push(performance.now() - begun)
  }
  closeSync(file)
  rmSync(path)
  return [5, 15, 25, 35, 45, 55, 65, 75, 85, 95].map((share) => percentile(spent, share))
}

/** What the log entries of a run added to a database, without the transactions beside them. */
async function sizes(place: Place): Promise<Readonly<Record<Growth['engine'], number>>> {
  const file = join(place.folder, 'store', 'project-0', '.waymark', 'waymark.db')
  const [row] = await place.postgres.asked<{ bytes: string }>(
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not like 'bare%'`,
  )
  return { SQLite: bytesOf(file), PostgreSQL: Number(row?.bytes ?? 0) }
}

/** Of a file of SQLite, once what waits beside it is in it. */
function bytesOf(file: string): number {
  const database = new Database(file)
  database.pragma('wal_checkpoint(truncate)')
  database.close()
  return statSync(file).size
}

export function loadNow(): number {
  return loadavg()[0] ?? 0
}
