import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { envelope } from '../test/surfaces/mcp/eras.ts'
import { exchange, openSession, post, request, said } from '../test/surfaces/mcp/http/raw.ts'

// What Waymark costs over HTTP, and whether memory stays behind: node bench/mcp-http.ts [calls]

const calls = Number(process.argv[2] ?? 2000)
const list = { name: 'list_missions', arguments: {} }
const mission = { name: 'start_mission', arguments: { name: 'n', objective: 'o' } }
const server = fork(join(import.meta.dirname, 'mcp-http', 'server.ts'), { execArgv: ['--expose-gc'] })

async function told<Kind extends string>(kind: Kind): Promise<number> {
  const [message] = await once(server, 'message')
  return message[kind]
}

const url = `http://127.0.0.1:${await told('port')}/mcp`

async function memory(): Promise<number> {
  await sleep(500) // what is over has been let go
  server.send('memory')
  return told('memory')
}

function show(what: string, value: number): void {
  console.log(`| ${what} | ${value.toFixed(2)} |`)
}

async function latency(what: string, work: () => Promise<Response>): Promise<void> {
  const spent: number[] = []
  for (let round = 0; round < calls; round += 1) {
    const start = performance.now()
    await said(await work())
    spent.push(performance.now() - start)
  }
  show(`${what}, median ms`, spent.sort((a, b) => a - b)[Math.floor(calls / 2)] ?? Number.NaN)
}

async function inParallel(what: string, work: () => Promise<Response>): Promise<void> {
  const start = performance.now()
  const worker = async () => {
    for (let round = 0; round < calls / 50; round += 1) await said(await work())
  }
  await Promise.all(Array.from({ length: 50 }, worker))
  show(`${what}, 50 at a time, calls a second`, (calls / (performance.now() - start)) * 1000)
}

async function listenAndVanish(): Promise<void> {
  const filter = { notifications: { resourcesListChanged: true }, _meta: envelope }
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' }
  const listening = await post(url, request('subscriptions/listen', filter), headers)
  await listening.body?.cancel()
}

const session = await openSession(url)
const inSession = (params: object) => session.send(request('tools/call', params, crypto.randomUUID()))
console.log('| what | measured |\n|---|---|')
await latency('2025-11-25 list_missions', () => inSession(list))
await latency('2026-07-28 list_missions', () => exchange(url, 'tools/call', list))
await latency('2025-11-25 start_mission', () => inSession(mission))
await latency('2026-07-28 start_mission', () => exchange(url, 'tools/call', mission))
await inParallel('2025-11-25 list_missions', () => inSession(list))
await inParallel('2026-07-28 list_missions', () => exchange(url, 'tools/call', list))
const before = await memory()
show('heap after these, MiB', before)
await inParallel('2026-07-28 list_missions', () => exchange(url, 'tools/call', list))
await inParallel('2025-11-25 list_missions', () => inSession(list))
for (let round = 0; round < calls / 10; round += 1) {
  const passing = await openSession(url)
  const leaving = new AbortController()
  await passing.stream(leaving.signal)
  leaving.abort()
  if (round % 2 === 0) await passing.end()
  await listenAndVanish()
}
show('heap after as many again, and sessions and streams that came and went, MiB', await memory())
server.disconnect()
