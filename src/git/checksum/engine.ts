import { Worker } from 'node:worker_threads'
import type { ChangeReport } from '../../domain/track/changes.ts'
import type { Snapshot, SnapshotRef } from '../../ports/work-tree.ts'
import type { Answer, JobName, Jobs } from './worker.ts'

export interface ChecksumRequest {
  /** Absolute path of the folder to witness. */
  readonly top: string
  /** From there to the project's folder: `''`, or ending with `/`. */
  readonly prefix: string
  /** Absolute path of the private directory to write; created if need be. */
  readonly directory: string
  /** The private directory of an earlier snapshot of the same top: what did not change since is not read again. */
  readonly reuse?: string
}

/** Records the state of a work tree without git. Fails only if the top cannot be listed or the directory not written. */
export async function checksumSnapshot({
  top,
  prefix,
  directory,
  reuse,
}: ChecksumRequest): Promise<Snapshot> {
  const request = reuse === undefined ? { top, directory } : { top, directory, reuse }
  const { id, paths, notes } = await runJob('scan', request)
  return { ref: { engine: 'checksum', directory, top, prefix, id }, paths, dirty: [], notes }
}

/** The hash of the content of every file that is not ignored, and which. Writes a snapshot, for the next to reuse. */
export function checksumTreeHash(
  request: Omit<ChecksumRequest, 'prefix'>,
): Promise<{ readonly hash: string; readonly paths: readonly string[] }> {
  return runJob('treeHash', request)
}

/** What differs between two checksum snapshots. A lost one answers `unknown`. */
export function checksumChanges(from: SnapshotRef, to: SnapshotRef): Promise<ChangeReport> {
  return runJob('changes', from.directory, to.directory)
}

/** The paths that differ, without renames and lines. Null when a snapshot is lost. */
export function checksumTouched(from: SnapshotRef, to: SnapshotRef): Promise<readonly string[] | null> {
  return runJob('touched', from.directory, to.directory)
}

/** The unified diff, of one path (old or new name) when given. Null when a snapshot or that path's content is lost. */
export function checksumUnifiedDiff(
  from: SnapshotRef,
  to: SnapshotRef,
  paths?: readonly string[],
): Promise<string | null> {
  return paths === undefined
    ? runJob('unifiedDiff', from.directory, to.directory)
    : runJob('unifiedDiff', from.directory, to.directory, paths)
}

// From source, the worker is the file beside this one; a build puts it beside the bundle under a name of its own.
const workerFile = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './checksum-worker.js',
  import.meta.url,
)

// Starting a thread costs more than scanning a small tree, keeping an idle one costs memory.
const IDLE = 10_000

/** Does a job in a thread of its own, so that reading a whole tree never holds up the event loop. */
function runJob<Name extends JobName>(
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
