import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

// What an operation costs over HTTP, beside a bare hono route: node bench/api.ts [calls]

const calls = Number(process.argv[2] ?? 5000)
const callers = 16
const agent = new Agent({ keepAlive: true, maxSockets: callers })

interface Server {
  readonly child: ChildProcess
  readonly port: number
  readonly token: string
}

async function start(script: string): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'api', script))
  const [{ port, token }] = await once(child, 'message')
  return { child, port, token }
}

interface Call {
  readonly path: string
  readonly body: object
}

/** One call, to the end of its answer; fails where it is not answered well. */
function call({ port, token }: Server, { path, body }: Call): Promise<void> {
  const text = JSON.stringify(body)
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const asked = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (answer) => {
    if (answer.statusCode !== 200) reject(new Error(`${path} was answered ${answer.statusCode}`))
    answer.resume().on('end', resolve)
  })
  asked.on('error', reject)
  asked.end(text)
  return promise
}

async function measure(what: string, server: Server, wanted: Call): Promise<void> {
  for (let round = 0; round < 300; round += 1) await call(server, wanted)
  const spent: number[] = []
  for (let round = 0; round < Math.min(calls, 1000); round += 1) {
    const startedAt = performance.now()
    await call(server, wanted)
    spent.push(performance.now() - startedAt)
  }
  const startedAt = performance.now()
  const worker = async () => {
    for (let round = 0; round < calls / callers; round += 1) await call(server, wanted)
  }
  await Promise.all(Array.from({ length: callers }, worker))
  const each = (calls / (performance.now() - startedAt)) * 1000
  spent.sort((a, b) => a - b)
  const at = (share: number) => (spent[Math.floor((spent.length - 1) * share)] ?? Number.NaN).toFixed(2)
  console.log(`| ${what} | ${at(0.5)} | ${at(0.95)} | ${each.toFixed(0)} |`)
}

const bare = await start('bare.ts')
const waymark = await start('serve.ts')
console.log(`| call | p50 ms | p95 ms | per second, ${callers} at a time |\n|---|---|---|---|`)
await measure('bare hono route', bare, { path: '/api/list_missions', body: {} })
await measure('POST /api/process_list', waymark, { path: '/api/process_list', body: {} })
await measure('POST /api/list_missions', waymark, { path: '/api/list_missions', body: {} })
const mission = { name: 'Shop', objective: 'A shop' }
await measure('POST /api/start_mission', waymark, { path: '/api/start_mission', body: mission })
await measure('POST /api/list_missions, 20 of many', waymark, { path: '/api/list_missions', body: {} })
for (const { child } of [bare, waymark]) child.kill()
agent.destroy()
