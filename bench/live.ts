import { setTimeout as sleep } from 'node:timers/promises'
import type { TaskId } from '../src/kernel/id.ts'
import { happened } from '../test/store/events.ts'
import { aMission, aTask } from '../test/support/entities.ts'
import { temporaryStore } from '../test/support/store.ts'
import { type Delays, heard, start, type Usage, usageOf } from './live/parts.ts'

// How fast the live feed tells many readers of what another process records, beside a bare broadcaster:
// node bench/live.ts [readers] [log entries a second] [seconds]

const [readers = 200, rate = 300, seconds = 10] = process.argv.slice(2).map(Number)
const tasks = 100
const idleFor = 10

interface Run {
  readonly delays: Delays
  /** Processor time of the server over the run, as a share of one processor. */
  readonly load: number
  readonly before: Usage
  readonly after: Usage
}

async function waymark(): Promise<Run & { readonly idle: number }> {
  await using temporary = await temporaryStore()
  const { store, root, file } = temporary
  await happened(
    store,
    1,
    { kind: 'mission.started', mission: aMission() },
    ...Array.from({ length: tasks }, (_, index) => {
      const task = aTask({ id: `t-${index}` as TaskId, status: 'to_do' }) // a brand
      return { kind: 'task.planned', task } as const
    }),
  )
  const server = start('serve', root, file)
  const port = await heard<number>(server)
  const reading = start('read', port, readers, rate * seconds)
  await heard(reading)
  await sleep(1_000)
  const quiet = await usageOf(server)
  await sleep(idleFor * 1000)
  const before = await usageOf(server)
  start('write', root, file, rate, seconds, tasks)
  const delays = await heard<Delays>(reading)
  const after = await usageOf(server)
  server.kill()
  const idle = (before.cpu - quiet.cpu) / (idleFor * 10)
  return { delays, load: loadOf(delays, before, after), before, after, idle }
}

async function bareBroadcaster(size: number): Promise<Run> {
  const server = start('broadcast', rate, seconds, readers, size)
  const reading = start('read', await heard<number>(server), readers, rate * seconds)
  await heard(reading)
  const before = await usageOf(server)
  const delays = await heard<Delays>(reading)
  const after = await usageOf(server)
  server.kill()
  return { delays, load: loadOf(delays, before, after), before, after }
}

function loadOf(delays: Delays, before: Usage, after: Usage): number {
  return (after.cpu - before.cpu) / 10 / ((rate * seconds) / delays.rate)
}

function row(name: string, { delays, load, before, after }: Run): string {
  const { p50, p95, p99, longest, lost } = delays
  const cells = [
    name,
    delays.rate,
    p50,
    p95,
    p99,
    longest,
    lost,
    `${before.memory.toFixed(0)} → ${after.memory.toFixed(0)}`,
    load.toFixed(0),
  ]
  return `| ${cells.join(' | ')} |`
}

console.log(
  `${readers} readers, ${rate} log entries a second for ${seconds} s, written by another process.\n`,
)
const ours = await waymark()
const bare = await bareBroadcaster(500)
console.log('| | events/s | p50 ms | p95 ms | p99 ms | longest | lost | memory MiB | processor % |')
console.log('|---|---|---|---|---|---|---|---|---|')
console.log(row('waymark, from the call of record to the reader', ours))
console.log(row('bare broadcaster, from memory', bare))
console.log(`\nIdle with ${readers} readers: ${ours.idle.toFixed(2)} % of one processor (aim: below 1).`)
