import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** What one stretch of work came to. */
export interface Interval {
  readonly events: number
  /** Of each call, in milliseconds. */
  readonly spent: readonly number[]
  /** Milliseconds from the first call to the last answer. */
  readonly wall: number
  /** Processor time of the thread that called, in milliseconds. */
  readonly cpu: number
}

/** A process of the benchmark, which answers each order with one message. */
export interface Worker<Order extends object, Answer = Interval> {
  readonly pid: number
  readonly ask: (order: Order) => Promise<Answer>
  readonly end: () => Promise<void>
}

const nodeFlags = ['--disable-warning=ExperimentalWarning']

/** Starts a script of this folder and waits until it is ready. */
export async function startWorker<Order extends object, Answer = Interval>(
  script: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Worker<Order, Answer>> {
  const child = fork(join(import.meta.dirname, script), words, { env: environment, execArgv: nodeFlags })
  await message(child, script)
  return {
    pid: child.pid ?? 0,
    ask: async (order) => {
      child.send(order)
      return (await message(child, script)) as Answer // each script answers its own orders
    },
    end: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function message(child: ChildProcess, script: string): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`bench/team/${script} ended with ${code}.`)
  })
  ended.catch(() => undefined)
  try {
    const [told] = await Promise.race([once(child, 'message', { signal }), ended])
    if (told?.error !== undefined) throw new Error(`bench/team/${script}: ${told.error}`)
    return told
  } finally {
    over.abort()
  }
}

/** Answers the orders of the parent, one after the other, until it disconnects. */
export function obey<Order>(work: (order: Order) => Promise<object>, end: () => Promise<unknown>): void {
  process.on('message', (order) => {
    void work(order as Order) // the parent sends what it declares
      .catch((error: unknown) => ({
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }))
      .then((answer) => process.send?.(answer))
  })
  process.on('disconnect', () => void end().finally(() => process.exit()))
  process.send?.('ready')
}

/** Calls again and again, so many callers side by side, until the time is over or there is nothing left to do. */
export async function sideBySide(
  callers: number,
  milliseconds: number,
  call: (caller: number) => Promise<number | null>,
): Promise<Interval> {
  const spent: number[] = []
  let events = 0
  const before = process.threadCpuUsage()
  const begun = performance.now()
  const caller = async (_: unknown, index: number) => {
    while (performance.now() - begun < milliseconds) {
      const asked = performance.now()
      const made = await call(index)
      if (made === null) return
      spent.push(performance.now() - asked)
      events += made
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const wall = performance.now() - begun
  const { user, system } = process.threadCpuUsage(before)
  return { events, spent, wall, cpu: (user + system) / 1000 }
}
