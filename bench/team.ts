import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from './team/cluster.ts'
import {
  type Duration,
  loadNow,
  type Measured,
  machineHere,
  measureFlushes,
  measurePoints,
  measureStatements,
  measureTrip,
  type Place,
} from './team/measurements.ts'
import { checked, forecast, model } from './team/prediction.ts'
import { measureReplicas } from './team/replicas.ts'
import { limitsTable, measuredTables } from './team/tables.ts'

// What many writers on SQLite and PostgreSQL come to in one run, beside the bare transaction; three servers; and what
// follows from it for ten thousand agents: node bench/team.ts [milliseconds of a stretch] [rounds]. Needs a build.
// node bench/team.ts simulate goes on from the figures of the last run.

const kept = join(import.meta.dirname, 'team', 'measured.json')
// A disk: what is acknowledged there outlives a crash. /tmp is often memory.
const disk = process.env['WAYMARK_BENCH_FOLDER'] ?? '/var/tmp'

async function measured(duration: Duration): Promise<Measured> {
  const folder = mkdtempSync(join(disk, 'waymark-bench-'))
  chmodSync(folder, 0o755) // the server's user must enter it
  try {
    await using postgres = await startPostgres(folder)
    const place: Place = { folder, postgres }
    const load = loadNow()
    const trip = await measureTrip(place)
    const flushes = measureFlushes(folder)
    const statements = await measureStatements(place)
    const { points, growth } = await measurePoints(place, duration)
    const { points: replicas, live } = await measureReplicas(place, duration)
    const at = new Date().toISOString()
    const run = { at, machine: machineHere(), load, postgres: postgres.version, ...duration }
    return { ...run, points, statements, growth, flushes, trip, live, replicas }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function figures(words: readonly string[]): Promise<Measured> {
  if (words[0] === 'simulate') return JSON.parse(readFileSync(kept, 'utf8')) as Measured // as it was written below
  const [milliseconds = 700, rounds = 2] = words.map(Number)
  const found = await measured({ milliseconds, rounds })
  writeFileSync(kept, `${JSON.stringify(found, (_key, value) => rounded(value), 1)}\n`)
  return found
}

function rounded(value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value
}

const found = await figures(process.argv.slice(2))
console.log(measuredTables(found))
console.log(limitsTable(found))
const check = checked(found)
console.log(check.table)
console.log(model(found))
console.log(forecast(found))
if (check.isOver) {
  console.error('The simulation is more than 30 % away from what was measured: do not trust it.')
  process.exitCode = 1
}
