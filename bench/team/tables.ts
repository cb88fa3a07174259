import type { Growth, Measured, Point, Statements } from './measurements.ts'

/** The figures of a run as tables of Markdown. */
export function measuredTables(found: Measured): string {
  const { machine, load, postgres, milliseconds, rounds, trip, flushes, live } = found
  const disk = [flushes[4], flushes[9]].map((value) => number(value ?? Number.NaN)).join(' / ')
  return [
    `Measured ${found.at.slice(0, 16).replace('T', ' ')} with ${machine}, PostgreSQL ${postgres} on the same machine, commits on its disk;`,
    `load at the start ${number(load)}. ${rounds} rounds of ${milliseconds} ms for each figure. A round trip to the database takes`,
    `${number(trip.roundTrip)} ms, a flush of the disk ${disk} ms (half of them, 95 %).`,
    '',
    'Calls of so many writers, side by side. “Processor” is milliseconds of one call, in the process that runs it and in',
    'PostgreSQL; “others” is how many tasks of others ran or waited on the machine at the time.',
    '',
    pointsTable(found.points),
    '',
    'What a call asks PostgreSQL:',
    '',
    statementsTable(found.statements),
    '',
    `Over HTTP, to servers of their own process (\`waymark serve\`):`,
    '',
    pointsTable(found.replicas),
    '',
    `Live: ${live.readers} readers at three servers, ${live.events} log entries, ${number(live.eventsPerSecond)} a second, from the commit to the frame.`,
    '',
    row(['p50 ms', 'p95 ms', 'p99 ms', 'lost', 'twice', 'load', 'round trip ms']),
    rule(7),
    row([live.p50, live.p95, live.p99, live.lost, live.doubled, live.load, live.roundTrip].map(number)),
    '',
    'What a thousand log entries add to the database, of progress and of tasks that were begun and completed:',
    '',
    growthTable(found.growth),
    '',
  ].join('\n')
}

function pointsTable(points: readonly Point[]): string {
  const titles = [
    'writers',
    'projects',
    'what',
    'events/s',
    'calls/s',
    'p50 ms',
    'p99 ms',
    'processor',
    'load',
    'others',
    'round trip ms',
  ]
  return [
    row(titles),
    rule(titles.length),
    ...points.map((point) =>
      row([
        String(point.writers),
        String(point.projects),
        point.what,
        number(point.eventsPerSecond),
        number(point.callsPerSecond),
        number(point.p50),
        number(point.p99),
        [point.replicaCpu, point.databaseCpu]
          .filter((cpu) => cpu > 0)
          .map(number)
          .join(' + '),
        number(point.load),
        number(point.others),
        point.roundTrip > 0 ? number(point.roundTrip) : '',
      ]),
    ),
  ].join('\n')
}

function statementsTable(statements: readonly Statements[]): string {
  const titles = ['call', 'statements', 'under the lock', 'waits before', 'waits under the lock']
  return [
    row(titles),
    rule(titles.length),
    ...statements.map(({ called, all, underLock, tripsBefore, tripsUnderLock }) =>
      row([called, ...[all, underLock, tripsBefore, tripsUnderLock].map(number)]),
    ),
  ].join('\n')
}

function growthTable(growth: readonly Growth[]): string {
  return [
    row(['engine', 'events of the run', 'kB for 1,000']),
    rule(3),
    ...growth.map(({ engine, events, per1000Events }) =>
      row([engine, number(events), number(per1000Events / 1000)]),
    ),
  ].join('\n')
}

/** Events a second of one project: ten thousand agents, each with one a minute. */
const need = 170
const needWriters = 32

interface Limit {
  readonly what: string
  readonly value: number
  readonly limit: number
  readonly isMost: boolean
}

/** What one project on PostgreSQL must come to, and whether it does. */
export function limitsTable(found: Measured): string {
  const of = (what: string, writers: number) =>
    found.points.find((point) => point.what === what && point.writers === writers && point.projects === 1)
      ?.eventsPerSecond ?? Number.NaN
  const limits: readonly Limit[] = [
    {
      what: `events a second of one project on PostgreSQL, ${needWriters} writers`,
      value: of('log_milestone, PostgreSQL', needWriters),
      limit: need,
      isMost: false,
    },
    {
      what: 'events that a reader lost or had twice',
      value: found.live.lost + found.live.doubled,
      limit: 0,
      isMost: true,
    },
  ]
  return [
    row(['limit', 'measured', 'at least or most']),
    rule(3),
    ...limits.map(({ what, value, limit, isMost }) => {
      const isMissed = isMost ? value > limit : !(value >= limit)
      return row([what, number(value), `${isMost ? '≤' : '≥'} ${limit}${isMissed ? ' (missed)' : ''}`])
    }),
    '',
  ].join('\n')
}

export function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

export function rule(columns: number): string {
  return `|${'---|'.repeat(columns)}`
}

/** Three digits at most behind the point, and none where they say nothing. */
export function number(value: number): string {
  if (Number.isNaN(value)) return '–'
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) < 1 ? 2 : 1)
}
