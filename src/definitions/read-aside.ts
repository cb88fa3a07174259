import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { finding } from '../domain/gate/lint/finding.ts'
import { type ReadDefinition, readDefinition } from './read-definition.ts'

/** Reading takes about two milliseconds for a thousand characters; what is longer is read on a thread of its own. */
const shortText = 8_000
/** Milliseconds. */
const patience = 20_000

/** Reads a definition, and holds nobody up with a long one. */
export function readAside(text: string): Promise<ReadDefinition> {
  if (text.length <= shortText) return Promise.resolve(readDefinition(text))
  const { promise, resolve, reject } = Promise.withResolvers<ReadDefinition>()
  // Flags of the parent, such as a test runner's loaders, are none of the worker's business.
  const worker = new Worker(workerFile(), { execArgv: [] })
  const deadline = setTimeout(() => resolve(tooLong(text)), patience)
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', (code) => reject(new Error(`The reader of processes ended with code ${code}.`)))
  worker.postMessage(text)
  return promise.finally(() => {
    clearTimeout(deadline)
    void worker.terminate()
  })
}

/** The bundle lies beside it; in the sources it is TypeScript, which Node runs as it is. */
function workerFile(): string {
  const bundled = join(import.meta.dirname, 'definition-worker.js')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, 'definition-worker.ts')
}

function tooLong(text: string): ReadDefinition {
  const message = `Reading its ${text.length} characters takes longer than ${patience / 1000} seconds.`
  return {
    definition: null,
    findings: [{ ...finding('error', 'yaml', { message, path: [] }), place: null }],
  }
}
