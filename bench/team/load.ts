import { Agent, request } from 'node:http'
import { type Interval, obey, sideBySide } from './child.ts'

// Agents that call replicas over HTTP, spread evenly, and as fast as they are answered unless there is a rate.

export interface Served {
  readonly url: string
}

export interface LoadOrder {
  readonly replicas: readonly Served[]
  /** In turns: a token may call only so many times a second. */
  readonly tokens: readonly string[]
  readonly callers: number
  readonly milliseconds: number
  readonly taskId: string
  readonly missionId: string
  /** Every second call reads. */
  readonly reads: boolean
  /** Calls of all callers a second. */
  readonly rate?: number
}

// Of each order its own: a server closes what was idle in between.
let agent = new Agent({ keepAlive: true })

function call(
  { url }: Served,
  token: string,
  { name, input }: { name: string; input: object },
): Promise<void> {
  const text = JSON.stringify(input)
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const asked = request(`${url}/api/${name}`, { method: 'POST', agent, headers }, (answer) => {
    if (answer.statusCode === 200) answer.resume().on('end', resolve)
    else {
      answer.setEncoding('utf8').on('data', (said: string) => {
        reject(new Error(`${name} was answered ${answer.statusCode}: ${said}`))
      })
    }
  })
  asked.on('error', reject)
  asked.end(text)
  return promise
}

async function work(order: LoadOrder): Promise<Interval> {
  const { replicas, tokens, callers, milliseconds, taskId, missionId, reads, rate } = order
  const reading = { mission_id: missionId, include: ['decisions', 'milestones', 'blockers'] }
  agent.destroy()
  agent = new Agent({ keepAlive: true })
  const begun = performance.now()
  let made = 0
  return sideBySide(callers, milliseconds, async (caller) => {
    const replica = replicas[caller % replicas.length]
    if (!replica) return null
    const number = made++
    if (rate !== undefined) {
      const wait = begun + (number / rate) * 1000 - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    }
    const token = tokens[number % tokens.length] ?? ''
    if (reads && number % 2 === 1) {
      await call(replica, token, { name: 'get_context', input: reading })
      return 0
    }
    const input = { task_id: taskId, message: 'Half way there', progress: 50 }
    await call(replica, token, { name: 'log_milestone', input })
    return 1
  })
}

obey(work, async () => agent.destroy())
