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
 * Checks whether connections come from inside a guard's command, each once. Connections that arrive during an inspection
 * are checked together by the next one.
 */
export function callersFromCommands(
  inspect: CallerLookup = createWorkerInspector(),
): (connection: LocalConnection) => Promise<boolean> {
  const cachedAnswers = new WeakMap<LocalConnection, Promise<boolean>>()
  let waiting: CallerCheck[] = []
  let isInspecting = false

  const inspectWaiting = async () => {
    isInspecting = true
    while (waiting.length > 0) {
      const checks = waiting
      waiting = []
      // If the inspection fails, treat the caller as inside a command, which may do less.
      const results = await inspect(checks.map(({ connection }) => portsOf(connection))).catch(() => [])
      for (const [index, { answer }] of checks.entries()) answer(results[index] ?? true)
    }
    isInspecting = false
  }
  return (connection) => {
    const earlier = cachedAnswers.get(connection)
    if (earlier) return earlier
    const { promise, resolve } = Promise.withResolvers<boolean>()
    cachedAnswers.set(connection, promise)
    waiting.push({ connection, answer: resolve })
    if (!isInspecting) void inspectWaiting()
    return promise
  }
}

/** A socket cannot be sent to a thread. */
function portsOf({ localPort, remotePort }: LocalConnection): LocalConnection {
  return { localPort, remotePort }
}

/** Inspects on a worker thread, started with the first connection; without one, on this thread. */
function createWorkerInspector(): CallerLookup {
  let worker: Worker | null = null
  const startWorker = () => {
    // The worker must not inherit flags of the parent, such as a test runner's loaders.
    const newWorker = new Worker(workerFile(), { execArgv: [] })
    newWorker.once('exit', () => {
      worker = null
    })
    newWorker.unref()
    return newWorker
  }
  return async (connections) => {
    worker ??= startWorker()
    const current = worker
    const { promise, resolve, reject } = Promise.withResolvers<readonly boolean[]>()
    const rejectWith = (error: unknown) => reject(error)
    current.once('message', resolve).once('error', rejectWith).once('exit', rejectWith)
    current.postMessage(connections)
    try {
      return await promise
    } catch {
      return connectionsFromCommands(connections)
    } finally {
      current.off('message', resolve).off('error', rejectWith).off('exit', rejectWith)
    }
  }
}

/** The worker is bundled beside this module; in the sources Node runs it as TypeScript. */
function workerFile(): string {
  const bundled = join(import.meta.dirname, 'callers-worker.js')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, 'callers-worker.ts')
}
