import { availableParallelism } from 'node:os'
import { percentile } from '../live/percentile.ts'
import type { Measured, Point } from './measurements.ts'
import { agentsPause, crowded, type Demand, type Outcome, type Services, simulate } from './simulation.ts'
import { number, row, rule } from './tables.ts'

/** The simulation may be so much away from what was measured, as a share. */
const maxDeviation = 0.3
const usualPool = 10

/** What each kind of call costs, from the figures of one run. */
export function servicesOf(found: Measured): Services {
  const { trip, statements } = found
  return {
    calls: Object.fromEntries(
      statements.map(({ called, events, tripsBefore, tripsUnderLock, underLock: locked, all }) => {
        const cpu = costOf(found.points.filter(({ what }) => what === `${called}, PostgreSQL`))
        // Each statement costs as much as another, and the commit is one.
        const share = locked === 0 ? 0 : Math.min(1, (locked + 1) / all)
        const underLock = { replica: share, database: share }
        return [
          called,
          { events, ...cpu, caller: 0, tripsBefore, tripsUnderLock, underLock } satisfies Demand,
        ]
      }),
    ),
    trip: Math.max(0.02, trip.roundTrip - trip.replicaCpu - trip.databaseCpu),
    flushes: found.flushes,
    frame: found.live.replicaCpu / 3,
    frameOfSocket: 0.02,
    reading: 2 * trip.databaseCpu,
    wake: Math.max(2, found.live.p50 - 2 * trip.roundTrip),
  }
}

/** The middle of what was measured: a call costs least where many come together, and most where one comes alone. */
function costOf(points: readonly Point[]): { readonly replica: number; readonly database: number } {
  return {
    replica: middle(points.map(({ replicaCpu }) => replicaCpu)),
    database: middle(points.map(({ databaseCpu }) => databaseCpu)),
  }
}

function middle(values: readonly number[]): number {
  return percentile(values, 50)
}

interface Checked {
  readonly what: string
  readonly writers: number
  readonly measured: number
  readonly simulated: number
  readonly deviation: number
}

/**
 * Simulates what was measured on the machine as it was then. Each point has the processor time of its own calls, and how
 * long they were held up by others; what is foretold is what comes of it with turns, locks, connections and commits.
 */
export function checked(found: Measured): { readonly table: string; readonly isOver: boolean } {
  const services = servicesOf(found)
  const own = found.points.filter(
    ({ what, projects }) => projects === 1 && what === 'log_milestone, PostgreSQL',
  )
  const checks = [
    ...own.map((point) => checkedPoint(point, services, 1)),
    ...found.replicas.map((point) =>
      checkedPoint(point, overHttp(services, found), point.what.includes('3 replicas') ? 3 : 1),
    ),
  ]
  const titles = ['measured point', 'writers', 'calls/s measured', 'simulated', 'deviation, %']
  const table = [
    'The simulation beside what was measured:',
    '',
    row(titles),
    rule(titles.length),
    ...checks.map(({ what, writers, measured, simulated, deviation }) => {
      const over = Math.abs(deviation) > maxDeviation ? ' (over)' : ''
      const cells = [number(measured), number(simulated), `${(deviation * 100).toFixed(0)}${over}`]
      return row([what, String(writers), ...cells])
    }),
    '',
  ].join('\n')
  return { table, isOver: checks.some(({ deviation }) => !(Math.abs(deviation) <= maxDeviation)) }
}

function mixOf({ what }: Point): Readonly<Record<string, number>> {
  return what.includes('get_context') ? { log_milestone: 1, get_context: 1 } : { log_milestone: 1 }
}

/** The same calls where HTTP comes to what they cost; beside it the caller, which is a process of the same machine here. */
function overHttp(services: Services, { replicas }: Measured): Services {
  const written = replicas.filter(({ what }) => !what.includes('get_context'))
  const whole = costOf(written)
  const own = services.calls['log_milestone'] ?? { replica: 0, database: 0 }
  const more = {
    replica: Math.max(0, whole.replica - own.replica),
    database: Math.max(0, whole.database - own.database),
  }
  const caller = middle(written.map(({ callerCpu }) => callerCpu))
  const calls = Object.entries(services.calls).map(([name, demand]) => {
    const { underLock } = demand
    const [replica, database] = [demand.replica + more.replica, demand.database + more.database]
    const shares = {
      replica: (underLock.replica * demand.replica) / replica,
      database: (underLock.database * demand.database) / database,
    }
    return [name, { ...demand, replica, database, underLock: shares, caller }] as const
  })
  return { ...services, calls: Object.fromEntries(calls) }
}

function checkedPoint(point: Point, services: Services, replicas: number): Checked {
  const mix = mixOf(point)
  const foretold = (slowdown: number): Outcome => {
    const machine = { cores: availableParallelism(), slowdown }
    return simulate({
      services: asThen(services, point, Object.keys(mix)),
      installation: { replicas, pool: usualPool, machines: 'shared', database: machine, replica: machine },
      crowd: { agents: [point.writers], mix, pause: () => 0, followers: 0 },
      time: 10_000,
      seed: 1,
    })
  }
  // How long they waited for each other is foretold; what they waited longer was for others.
  const { callsPerSecond } = foretold(Math.max(1, point.slowdown / foretold(1).slowdown))
  const { what, writers, callsPerSecond: measured } = point
  return { what, writers, measured, simulated: callsPerSecond, deviation: callsPerSecond / measured - 1 }
}

/** The calls of a point, with the processor time that they took there. */
function asThen(services: Services, point: Point, kinds: readonly string[]): Services {
  const demands = kinds.flatMap((kind) => services.calls[kind] ?? [])
  const mean = (of: (demand: Demand) => number) =>
    demands.reduce((sum, demand) => sum + of(demand), 0) / demands.length
  const replica = point.replicaCpu / mean((demand) => demand.replica)
  const database = point.databaseCpu / mean((demand) => demand.database)
  const calls = Object.entries(services.calls).map(([kind, demand]) => {
    const then = {
      replica: demand.replica * replica,
      database: demand.database * database,
      caller: point.callerCpu,
    }
    return [kind, { ...demand, ...then }] as const
  })
  return { ...services, calls: Object.fromEntries(calls) }
}

export interface Forecast {
  readonly agents: number
  readonly projects: number
  readonly hottest: number
  readonly replicas: number
  readonly outcome: Outcome
}

/** An agent logs and reads most of the time; it begins and completes a task every ten calls. */
export const usualDay: Readonly<Record<string, number>> = {
  log_milestone: 4,
  start_task: 1,
  complete_task: 1,
  get_context: 4,
}

const seconds = 20
/** Between machines of one data centre, in milliseconds. */
const tripBetweenMachines = 0.5
const databaseCores = 8

/** Between the callers of a forecast and the replicas lies a network, and what they cost is not the replica's. */
function elsewhere(found: Measured): Services {
  const services = overHttp(servicesOf(found), found)
  const calls = Object.entries(services.calls).map(
    ([name, demand]) => [name, { ...demand, caller: 0 }] as const,
  )
  return { ...services, calls: Object.fromEntries(calls), trip: tripBetweenMachines }
}

/** What the simulation has to agree with where nothing waits for anything: sums and products. */
export function model(found: Measured): string {
  const { calls, trip, flushes } = elsewhere(found)
  const weights = Object.values(usualDay).reduce((sum, weight) => sum + weight, 0)
  const perCall = (of: (demand: Demand) => number) =>
    Object.entries(usualDay).reduce((sum, [kind, weight]) => {
      const demand = calls[kind]
      return sum + (demand ? of(demand) * weight : 0) / weights
    }, 0)
  const perEvent = (found.growth.find(({ engine }) => engine === 'PostgreSQL')?.per1000Events ?? 0) / 1000
  const flush = flushes.reduce((sum, each) => sum + each, 0) / Math.max(1, flushes.length)
  const held = Object.entries(calls).map(
    ([kind, { tripsUnderLock, underLock, replica, database, events }]) => {
      const work = replica * underLock.replica + database * underLock.database
      return { kind, item: (tripsUnderLock + 1) * trip + work + flush, events }
    },
  )
  const sizes = [100, 1_000, 10_000].map((agents) => {
    const callsPerSecond = agents / 5
    const events = callsPerSecond * perCall((demand) => demand.events)
    const replicas = Math.ceil((callsPerSecond * perCall(({ replica }) => replica)) / 1000 / maxBusy)
    const cores = (callsPerSecond * perCall(({ database }) => database)) / 1000 / maxBusy
    const gigabytes = (events * perEvent * workingDay) / 1e9
    return row(
      [agents, callsPerSecond, events, replicas, Math.ceil(cores), replicas * (usualPool + 1), gigabytes].map(
        number,
      ),
    )
  })
  return [
    `The model: an agent makes a call every five seconds; replicas and PostgreSQL are at most ${maxBusy * 100} % busy; a day has eight hours.`,
    '',
    row(['agents', 'calls/s', 'events/s', 'replicas', 'processors of PostgreSQL', 'connections', 'GB a day']),
    rule(7),
    ...sizes,
    '',
    `One process on SQLite carries ${number(agentsOnSqlite(found))} agents in the same way: it is busy ${maxBusy * 100} % then.`,
    '',
    `How long a call holds its project, computed for ${trip} ms between the machines, and so how many of one project a second, each in a transaction of its own:`,
    '',
    row(['call', 'ms', 'at most a second']),
    rule(3),
    ...held
      .filter(({ events }) => events > 0)
      .map(({ kind, item }) => row([kind, number(item), number(1000 / item)])),
    '',
  ].join('\n')
}

/** Those of whose calls the one process is as busy as it may be; HTTP costs what it does on PostgreSQL. */
function agentsOnSqlite(found: Measured): number {
  const [log, overHttpLog] = [servicesOf(found), elsewhere(found)].map(
    ({ calls }) => calls['log_milestone']?.replica ?? 0,
  )
  const http = Math.max(0, (overHttpLog ?? 0) - (log ?? 0))
  const weights = Object.values(usualDay).reduce((sum, weight) => sum + weight, 0)
  const perCall = Object.entries(usualDay).reduce((sum, [kind, weight]) => {
    const { replica } = costOf(found.points.filter(({ what }) => what === `${kind}, SQLite`))
    return sum + ((replica + http) * weight) / weights
  }, 0)
  return Math.floor(((maxBusy * 1000) / perCall) * 5)
}

const maxBusy = 0.6
const workingDay = 8 * 3600

export function forecast(found: Measured): string {
  const services = elsewhere(found)
  const crowds = [crowded(10_000, 200, 1), crowded(10_000, 1_000, 0.19)]
  const forecasts = crowds.flatMap((agents) =>
    [1, 3, 10].map((replicas): Forecast => {
      const outcome = simulate({
        services,
        installation: {
          replicas,
          pool: usualPool,
          machines: 'separate',
          database: { cores: databaseCores },
          replica: { cores: 2 },
        },
        crowd: { agents, mix: usualDay, pause: agentsPause, followers: 2 },
        time: seconds * 1000,
        seed: 1,
      })
      return { agents: 10_000, projects: agents.length, hottest: agents[0] ?? 0, replicas, outcome }
    }),
  )
  return [
    'Ten thousand agents, each with a call every five seconds, some of them close together; each replica on a machine of',
    'its own with two cores, PostgreSQL on one with eight, 0.5 ms between them:',
    '',
    forecastTable(forecasts),
    '',
    kindsTable(forecasts),
    '',
  ].join('\n')
}

function forecastTable(forecasts: readonly Forecast[]): string {
  const titles = [
    'projects (agents of the hottest)',
    'replicas',
    'calls/s',
    'events/s',
    'replicas busy, %',
    'database busy, %',
    'disk busy, %',
    'lock of the hottest held, %',
    'connections used / open',
    'live p50 / p95 / p99 ms',
  ]
  return [
    row(titles),
    rule(titles.length),
    ...forecasts.map(({ projects, hottest, replicas, outcome }) =>
      row([
        `${projects} (${hottest.toLocaleString('en')})`,
        String(replicas),
        number(outcome.callsPerSecond),
        number(outcome.eventsPerSecond),
        ...[outcome.replicas, outcome.database, outcome.disk, outcome.hottestLock].map((share) =>
          (share * 100).toFixed(0),
        ),
        `${outcome.connectionsUsed} / ${outcome.connections}`,
        spread(outcome.live),
      ]),
    ),
  ].join('\n')
}

function kindsTable(forecasts: readonly Forecast[]): string {
  const kinds = Object.keys(usualDay)
  const titles = ['projects', 'replicas', ...kinds.map((kind) => `${kind}, p50 / p95 / p99 ms`)]
  return [
    row(titles),
    rule(titles.length),
    ...forecasts.map(({ projects, replicas, outcome }) =>
      row([
        String(projects),
        String(replicas),
        ...kinds.map((kind) => spread(outcome.kinds[kind]?.spent ?? [])),
      ]),
    ),
  ].join('\n')
}

function spread(values: readonly number[]): string {
  return [50, 95, 99].map((share) => number(Math.round(percentile(values, share) * 10) / 10)).join(' / ')
}
