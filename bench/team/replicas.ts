import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../live/percentile.ts'
import { startWorker } from './child.ts'
import type { Followed, FollowOrder } from './followers.ts'
import type { LoadOrder, Served } from './load.ts'
import {
  type Duration,
  type Live,
  loadNow,
  type Place,
  type Point,
  pointOf,
  roundTrips,
  type Taken,
} from './measurements.ts'
import { cpuOfTree, watched } from './pressure.ts'

interface Replica extends Served {
  readonly pid: number
  readonly end: () => Promise<void>
}

const program = join(import.meta.dirname, '..', '..', 'bin', 'waymark.js')

interface Here {
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

/** A machine's folders. They all stand in the same project of the same database. */
function machine({ folder, postgres }: Place, name: string): Here {
  const served = join(folder, 'served')
  const state = join(folder, name)
  for (const made of [served, state]) mkdirSync(made, { recursive: true })
  const { CLAUDECODE: _agent, ...rest } = process.env
  const environment = { ...rest, HOME: state, XDG_STATE_HOME: state, WAYMARK_DATABASE: postgres.url }
  return { folder: served, environment }
}

/** What the command line answers. Needs a build. */
function command({ folder, environment }: Here, words: readonly string[]): Record<string, string> {
  const options = { cwd: folder, env: environment, encoding: 'utf8' } as const
  return JSON.parse(execFileSync(process.execPath, [program, ...words, '--json'], options)) as Record<
    string,
    string
  > // its ids
}

/** A server as people start it, over the same database as the others. */
async function startReplica(place: Place, number: number): Promise<Replica> {
  const { folder, environment } = machine(place, `replica-${number}`)
  const words = [
    program,
    'serve',
    '--project',
    folder,
    '--port',
    String(await freePort()),
    '--log-level',
    'error',
  ]
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`waymark serve ended with ${code}: ${said.join(' ')}`)))
    createInterface(child.stdout).on('line', (line) => {
      said.push(line)
      const found = /https?:\/\/[\w.:[\]-]+:\d+/.exec(line)?.[0]
      if (found !== undefined) resolve(found)
    })
  })
  return {
    url,
    pid: child.pid ?? 0,
    end: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('there is no port')
  return address.port
}

async function made(
  { url }: Served,
  token: string,
  name: string,
  input: object,
): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/api/${name}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
  })
  if (!answer.ok) throw new Error(`${name} was answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Record<string, string> // ids and secrets are texts
}

export interface OverReplicas {
  readonly points: readonly Point[]
  readonly live: Live
}

const callers = 32
const readersEach = 3

/** Calls over HTTP to one and to three servers, and how soon those who follow hear of what was committed. */
export async function measureReplicas(place: Place, duration: Duration): Promise<OverReplicas> {
  console.error('replicas …')
  const here = machine(place, 'replica-0')
  const { secret = '' } = command(here, ['token', 'create', '--admin', '--person', 'Ada'])
  const { mission_id: missionId = '' } = command(here, [
    'mission',
    'start',
    'Bench',
    '--objective',
    'Measure',
  ])
  const replicas = [await startReplica(place, 0)]
  try {
    for (const number of [1, 2]) replicas.push(await startReplica(place, number))
    const [first] = replicas
    if (!first) throw new Error('there is always a first')
    const task = await made(first, secret, 'start_task', {
      mission_id: missionId,
      name: 'The one that stays open',
    })
    const tokens: string[] = []
    for (let number = 0; number < 2 * callers; number += 1) {
      tokens.push((await made(first, secret, 'token_create', { name: `agent-${number}` }))['secret'] ?? '')
    }
    const work: Work = { missionId, taskId: task['task_id'] ?? '', tokens }
    return {
      points: await calls(place, replicas, { ...duration, ...work }),
      live: await live(place, replicas, work),
    }
  } finally {
    for (const replica of replicas) await replica.end()
  }
}

interface Work {
  readonly missionId: string
  readonly taskId: string
  readonly tokens: readonly string[]
}

async function calls(
  { postgres }: Place,
  replicas: readonly Replica[],
  work: Work & Duration,
): Promise<readonly Point[]> {
  const load = await startWorker<LoadOrder>('load.ts', [])
  const rows = [
    { over: 1, callers: 1, reads: false },
    { over: 1, callers, reads: false },
    { over: 3, callers, reads: false },
    { over: 1, callers: 1, reads: true },
    { over: 1, callers, reads: true },
    { over: 3, callers, reads: true },
  ]
  const taken = rows.map((): Taken[] => [])
  const everywhere = replicas.map(({ url }) => ({ url }))
  // What is called often is compiled.
  await load.ask({ ...work, replicas: everywhere, callers, reads: true, milliseconds: 5_000 })
  const milliseconds = Math.max(1_500, work.milliseconds)
  const idle = await idleCosts(postgres.pid(), replicas)
  for (let round = 0; round < work.rounds; round += 1) {
    for (const [at, row] of rows.entries()) {
      const trip = percentile(await roundTrips(postgres.url, 20), 50)
      const served = replicas.slice(0, row.over)
      const pid = postgres.pid()
      const cpuOfServers = () => served.reduce((sum, replica) => sum + cpuOfTree(replica.pid), 0)
      const [before, databaseBefore] = [cpuOfServers(), cpuOfTree(pid)]
      const pressure = watched([load.pid, pid, ...served.map((replica) => replica.pid)])
      const interval = await load.ask({
        ...row,
        ...work,
        milliseconds,
        replicas: served.map(({ url }) => ({ url })),
      })
      const databaseCpu = cpuOfTree(pid) - databaseBefore - idle.database * interval.wall
      const serverCpu = cpuOfServers() - before - idle.replica * row.over * interval.wall
      taken[at]?.push({ interval, beside: { ...pressure(), databaseCpu, serverCpu, roundTrip: trip } })
    }
  }
  await load.end()
  return rows.map(({ over, callers: writers, reads }, at) => {
    const what = `log_milestone${reads ? ' and get_context' : ''} over HTTP, ${over} ${over === 1 ? 'replica' : 'replicas'}`
    return pointOf({ what, projects: 1, isPostgres: true }, writers, taken[at] ?? [])
  })
}

/** What servers and database do of themselves, as shares of a processor. */
async function idleCosts(
  database: number,
  replicas: readonly Replica[],
): Promise<{ readonly database: number; readonly replica: number }> {
  const looked = () => [cpuOfTree(database), ...replicas.map(({ pid }) => cpuOfTree(pid))]
  const before = looked()
  const begun = performance.now()
  await sleep(2_000)
  const wall = performance.now() - begun
  const [ofDatabase = 0, ...ofReplicas] = looked().map((cpu, at) => (cpu - (before[at] ?? 0)) / wall)
  return {
    database: ofDatabase,
    replica: ofReplicas.reduce((sum, share) => sum + share, 0) / replicas.length,
  }
}

const liveRate = 40
const liveSeconds = 5

async function live({ postgres }: Place, replicas: readonly Replica[], work: Work): Promise<Live> {
  const followers = await startWorker<FollowOrder, Followed>('followers.ts', [])
  const load = await startWorker<LoadOrder>('load.ts', [])
  const served = replicas.map(({ url }) => ({ url }))
  await followers.ask({ open: served, each: readersEach, token: work.tokens[0] ?? '' })
  const roundTrip = percentile(await roundTrips(postgres.url, 50), 50)
  const cpu = () => replicas.reduce((sum, { pid }) => sum + cpuOfTree(pid), 0)
  const before = cpu()
  const [project] = await postgres.asked<{ id: string; seq: string }>(
    `select id, seq from project where id = (select project_id from task where id = '${work.taskId}')`,
  )
  const order = { callers: 12, milliseconds: liveSeconds * 1000, reads: false, rate: liveRate, ...work }
  const interval = await load.ask({ ...order, replicas: served })
  const [now] = await postgres.asked<{ seq: string }>(`select seq from project where id = '${project?.id}'`)
  const last = Number(now?.seq)
  const { readers } = await followers.ask({ until: last, longest: 10_000 })
  const committed = await postgres.asked<{ seq: string; at: number }>(
    `select seq, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at
     from project_event where project_id = '${project?.id}' and seq > ${project?.seq}`,
  )
  const commits = new Map(committed.map(({ seq, at }) => [Number(seq), Number(at)]))
  const delays = readers.flatMap(({ seqs, at }) =>
    seqs.map((seq, index) => (at[index] ?? 0) - (commits.get(seq) ?? 0)),
  )
  const distinct = readers.map(({ seqs }) => new Set(seqs).size)
  const replicaCpu = (cpu() - before) / commits.size
  for (const worker of [followers, load]) await worker.end()
  return {
    readers: readers.length,
    events: commits.size,
    eventsPerSecond: (commits.size / interval.wall) * 1000,
    p50: percentile(delays, 50),
    p95: percentile(delays, 95),
    p99: percentile(delays, 99),
    lost: distinct.reduce((lost, count) => lost + commits.size - count, 0),
    doubled: readers.reduce((sum, { seqs }, at) => sum + seqs.length - (distinct[at] ?? 0), 0),
    load: loadNow(),
    roundTrip,
    replicaCpu,
  }
}
