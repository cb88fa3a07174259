import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { connectionsFromCommands, type LocalConnection } from './os-processes.ts'

interface CallerCheck {
  readonly connection: LocalConnection
  readonly answer: (isInside: boolean) => void
}

type CallerLookup = (connections: readonly LocalConnection[]) => Promise<readonly boolean[]>

/**
 * Whether connections come from inside a guard's command, each looked at once: who holds a connection stays who it is. Those
 * that arrive during a look are answered together by the next, so that many cost as much as one.
 */
export function callersFromCommands(
  look: CallerLookup = createWorkerInspector(),
): (connection: LocalConnection) => Promise<boolean> {
  const known = new WeakMap<LocalConnection, Promise<boolean>>()
  let waiting: CallerCheck[] = []
  let isLooking = false

  const lookOn = async () => {
    isLooking = true
    while (waiting.length > 0) {
      const asked = waiting
      waiting = []
      // A look that fails takes a caller for the lesser of both.
      const answers = await look(asked.map(({ connection }) => portsOf(connection))).catch(() => [])
      for (const [at, { answer }] of asked.entries()) answer(answers[at] ?? true)
    }
    isLooking = false
  }
  return (connection) => {
    const before = known.get(connection)
    if (before) return before
    const { promise, resolve } = Promise.withResolvers<boolean>()
    known.set(connection, promise)
    waiting.push({ connection, answer: resolve })
    if (!isLooking) void lookOn()
    return promise
  }
}

/** A socket cannot be sent to a thread. */
function portsOf({ localPort, remotePort }: LocalConnection): LocalConnection {
  return { localPort, remotePort }
}

/** Looks on a thread that begins with the first connection; where there can be none, here. */
function createWorkerInspector(): CallerLookup {
  let worker: Worker | null = null
  const started = () => {
    // Flags of the parent, such as a test runner's loaders, are none of the worker's business.
    const made = new Worker(workerFile(), { execArgv: [] })
    made.once('exit', () => {
      worker = null
    })
    made.unref()
    return made
  }
  return async (connections) => {
    worker ??= started()
    const asked = worker
    const { promise, resolve, reject } = Promise.withResolvers<readonly boolean[]>()
    const ended = (error: unknown) => reject(error)
    asked.once('message', resolve).once('error', ended).once('exit', ended)
    asked.postMessage(connections)
    try {
      return await promise
    } catch {
      return connectionsFromCommands(connections)
    } finally {
      asked.off('message', resolve).off('error', ended).off('exit', ended)
    }
  }
}

/** The bundle lies beside it; in the sources it is TypeScript, which Node runs as it is. */
function workerFile(): string {
  const bundled = join(import.meta.dirname, 'callers-worker.js')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, 'callers-worker.ts')
}
