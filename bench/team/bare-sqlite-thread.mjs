// One writer of `bare-sqlite.ts`. Plain JavaScript, because a hundred threads that each read TypeScript take gigabytes.
import { createHash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

const { file, gate, until } = workerData
const body = JSON.stringify({
  message: 'Half way there, and the tests of the first part pass',
  note: 'x'.repeat(180),
})
const actor = JSON.stringify({ name: 'agent', kind: 'agent', role: null })

const database = new Database(file, { timeout: 10_000 })
database.pragma('synchronous = full')
const begin = database.prepare('begin immediate')
const lock = database.prepare('select seq, head from bare_project where id = ?')
const event = database.prepare('insert into bare_fact values (?, ?, ?, ?, ?, ?)')
const task = database.prepare('update bare_task set progress = ?, last_seq = ? where id = ?')
const attempt = database.prepare('update bare_attempt set progress = ?, last_seq = ? where id = ?')
const counter = database.prepare('update bare_project set seq = ?, head = ? where id = ?')
const commit = database.prepare('commit')

parentPort.postMessage('ready')
Atomics.wait(gate, 0, 0)
const spent = []
while (Date.now() < until[0]) {
  const asked = performance.now()
  begin.run()
  const { seq: before, head: last } = lock.get(0)
  const seq = before + 1
  const head = createHash('sha256').update(`${last}${seq}${body}`).digest('hex')
  event.run(0, seq, Date.now(), actor, body, head)
  task.run(seq % 100, seq, 0)
  attempt.run(seq % 100, seq, 0)
  counter.run(seq, head, 0)
  commit.run()
  spent.push(performance.now() - asked)
}
database.close()
parentPort.postMessage(Float64Array.from(spent))
