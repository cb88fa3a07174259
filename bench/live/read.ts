import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Delays } from './parts.ts'

// Many readers in one process. Tells when all are greeted, then, when the last log entry is there, how long each took.
const [port = '0', readers = '200', events = '3000'] = process.argv.slice(2)
// Milliseconds without a frame after which the rest is given up as lost.
const patience = 20_000
const delays: number[] = []
const got: number[] = []
let greeted = 0
let first = 0
let latest = 0

for (let reader = 0; reader < Number(readers); reader += 1) {
  got.push(0)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { perMessageDeflate: false })
  let last = -1
  socket.on('message', (data: Buffer) => {
    const text = data.toString()
    // Only what the figures need is read: parsing everything 60,000 times a second would be measured too.
    const seq = /^\{"seq":(\d+),"n":0,/.exec(text)?.[1]
    if (seq === undefined) {
      if (text.includes('"hello"')) greeted += 1
      return
    }
    const at = /"at":"([^"]+)"/.exec(text.slice(0, 200))?.[1] ?? ''
    if (last === -1 || Number(seq) === last + 1) got[reader] = (got[reader] ?? 0) + 1
    last = Number(seq)
    delays.push(Date.now() - Date.parse(at))
    latest = performance.now()
    if (first === 0) first = latest
  })
}
while (greeted < Number(readers)) await sleep(10)
process.send?.('ready')
while (first === 0) await sleep(10)
while (got.some((count) => count < Number(events)) && performance.now() - latest < patience) await sleep(50)
delays.sort((a, b) => a - b)
const at = (share: number) => delays[Math.floor(delays.length * share)] ?? Number.NaN
const answer: Delays = {
  rate: Math.round(((Number(events) - 1) * 1000) / (latest - first)),
  lost: got.reduce((lost, count) => lost + Number(events) - count, 0),
  p50: at(0.5),
  p95: at(0.95),
  p99: at(0.99),
  longest: delays.at(-1) ?? Number.NaN,
}
process.send?.(answer)
await sleep(100)
process.exit()
