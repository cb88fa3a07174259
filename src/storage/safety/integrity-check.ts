import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

const mostFindings = 20

// In a thread of its own, because it reads the whole file in one call. SQLite itself keeps its locks for all threads of
// a process, so closing this connection drops none of the others'.
const source = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.driver)
const database = new Database(workerData.file, { fileMustExist: true, timeout: 10000 })
try {
  database.pragma('query_only = on')
  const found = database.pragma('integrity_check(' + workerData.most + ')', { simple: false })
  parentPort.postMessage(found.map((row) => row.integrity_check))
} finally {
  database.close()
}`

/** What SQLite itself finds wrong in a file, in its own words; empty when it is sound. */
export async function integrityFindings(file: string): Promise<readonly string[]> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3')
  const worker = new Worker(source, { eval: true, workerData: { driver, file, most: mostFindings } })
  return new Promise((resolve, reject) => {
    worker.once('message', (found: readonly string[]) => resolve(found.filter((line) => line !== 'ok')))
    worker.once('error', reject)
    worker.once('exit', () => resolve([]))
  })
}
