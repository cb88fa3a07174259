import { Worker } from 'node:worker_threads'
import type { JobName, Jobs } from './job.ts'

// From source, the worker is the file beside this one; a build puts it beside the bundle under a name of its own.
const workerFile = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './checksum-worker.js',
  import.meta.url,
)

/** Does a job in a thread of its own, so that reading a whole tree never holds up the event loop. */
export function runJob<Name extends JobName>(
  job: Name,
  ...input: Parameters<Jobs[Name]>
): Promise<ReturnType<Jobs[Name]>> {
  const { promise, resolve, reject } = Promise.withResolvers<ReturnType<Jobs[Name]>>()
  // Flags of the parent, such as a test runner's loaders, are none of the worker's business.
  const worker = new Worker(workerFile, { workerData: { job, input }, execArgv: [] })
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', (code) =>
    reject(new Error(`The checksum worker ended with code ${code} and no answer.`)),
  )
  return promise
}
