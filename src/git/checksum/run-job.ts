import { Worker } from 'node:worker_threads'
import type { JobName, Jobs } from './job.ts'
import type { Answer } from './worker.ts'

// From source, the worker is the file beside this one; a build puts it beside the bundle under a name of its own.
const workerFile = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './checksum-worker.js',
  import.meta.url,
)

// Starting a thread costs more than scanning a small tree, keeping an idle one costs memory.
const IDLE = 10_000

/** Does a job in a thread of its own, so that reading a whole tree never holds up the event loop. */
export function runJob<Name extends JobName>(
  job: Name,
  ...input: Parameters<Jobs[Name]>
): Promise<ReturnType<Jobs[Name]>> {
  thread ??= new JobThread()
  // The worker answers an assignment with what its job returns.
  return thread.run(job, input) as Promise<ReturnType<Jobs[Name]>>
}

let thread: JobThread | null = null

type Settle = Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>

/** One worker thread. It keeps the process alive while it works, and ends when it was idle for a while. */
class JobThread {
  // Flags of the parent, such as a test runner's loaders, are none of the worker's business.
  readonly #worker = new Worker(workerFile, { execArgv: [] })
  readonly #pending = new Map<number, Settle>()
  #last = 0
  #idle: NodeJS.Timeout | undefined

  constructor() {
    this.#worker.on('message', (answer: Answer) => this.#settle(answer))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.on('exit', (code) => this.#end(new Error(`The checksum worker ended with code ${code}.`)))
  }

  run(job: JobName, input: readonly unknown[]): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#last += 1
    this.#pending.set(this.#last, { resolve, reject })
    clearTimeout(this.#idle)
    this.#worker.ref()
    this.#worker.postMessage({ id: this.#last, job, input })
    return promise
  }

  #settle(answer: Answer): void {
    const settle = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if ('error' in answer) settle?.reject(answer.error)
    else settle?.resolve(answer.value)
    if (this.#pending.size > 0) return
    this.#worker.unref()
    this.#idle = setTimeout(() => this.#end(new Error('The checksum worker was idle.')), IDLE).unref()
  }

  #end(reason: unknown): void {
    if (thread === this) thread = null
    for (const { reject } of this.#pending.values()) reject(reason)
    this.#pending.clear()
    clearTimeout(this.#idle)
    void this.#worker.terminate()
  }
}
