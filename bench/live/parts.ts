import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** What one of the processes tells of itself. */
export interface Usage {
  /** Processor time so far, in milliseconds. */
  readonly cpu: number
  /** Resident memory, in MiB. */
  readonly memory: number
}

export interface Delays {
  /** Events a second that came in, from the first to the last. */
  readonly rate: number
  /** Events that some reader did not get. */
  readonly lost: number
  /** Milliseconds. */
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly longest: number
}

export function start(script: string, ...args: readonly (string | number)[]): ChildProcess {
  return fork(join(import.meta.dirname, `${script}.ts`), args.map(String), { stdio: 'inherit' })
}

/** The next message of a process. */
export async function heard<Message>(child: ChildProcess): Promise<Message> {
  const [message] = await once(child, 'message')
  return message as Message // each script sends one kind
}

export async function usageOf(child: ChildProcess): Promise<Usage> {
  child.send('usage')
  return heard<Usage>(child)
}

/** Answers questions about this process. */
export function tellUsage(): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpu: (user + system) / 1000, memory: process.memoryUsage.rss() / 2 ** 20 })
  })
}
