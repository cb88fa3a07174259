import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import Database, { type Database as Connection } from 'better-sqlite3'
import { verifyChain } from '../../events/log/event-log.ts'
import type { ChainCheck } from '../../events/ports/log-reads.ts'
import { processEnd, untilEnd } from '../../kernel/process-end.ts'
import type { Inspection as WholeInspection } from '../ports/store.ts'
import { compare } from '../record/comparison.ts'
import { type Replay, replay } from '../record/replay.ts'
import { openReadOnly } from '../sqlite/connection.ts'
import { connectDriver } from '../sqlite/driver.ts'
import { retryWhileLocked } from '../sqlite/lock-retry.ts'

/** The anchor is another's to look at. */
type FileInspection = Omit<WholeInspection, 'anchor' | 'damage'> & { readonly damage: readonly string[] }

/** Looks through a whole database: what SQLite says of the file, the chain of hashes, every table beside its log entries. */
export async function inspectRecord(file: string, projectId: string | null): Promise<FileInspection> {
  if (projectId === null) {
    const damage = await integrityFindings(file)
    return { events: 0, damage, brokenAt: null, error: null, ...nothingCompared }
  }
  const database = await openOneState(file)
  try {
    const [damage, beside] = await Promise.allSettled([
      integrityFindings(file),
      compareWithEvents(database, projectId),
    ])
    if (damage.status === 'rejected') throw damage.reason
    if (beside.status === 'rejected') throw beside.reason
    return { damage: damage.value, ...beside.value }
  } finally {
    database.close()
  }
}

/** The chain of hashes alone. */
export async function inspectChain(file: string, projectId: string): Promise<ChainCheck> {
  const database = await openOneState(file)
  try {
    return await verifyChain({ db: connectDriver(database, 'read').db, projectId })
  } finally {
    database.close()
  }
}

type FileInspectionSummary = Omit<FileInspection, 'damage'>

export async function compareWithEvents(
  database: Connection,
  projectId: string,
): Promise<FileInspectionSummary> {
  const replayed = await replay(database, projectId)
  try {
    return await compareReplayed(replayed, database, projectId)
  } finally {
    replayed.close()
  }
}

async function compareReplayed(
  replayed: Replay,
  database: Connection,
  projectId: string,
): Promise<FileInspectionSummary> {
  const chain = chainOf(replayed, headOf(database, projectId))
  // Where the log breaks, what comes after it was not replayed, and every comparison would tell of that.
  if (chain.brokenAt !== null || chain.error !== null) return { ...chain, ...nothingCompared }
  const { tables, rows, differing, differences } = await compare(database, replayed.database, projectId, {
    adopt: true,
  })
  return { ...chain, tables: tables.length, rows, differing, differences }
}

/** Facts, head and tables as they were at one moment. Only with a log can others write while a reader reads long. */
async function openOneState(file: string): Promise<Connection> {
  const connection = openReadOnly(file)
  try {
    const mode = await retryWhileLocked(() => connection.pragma('journal_mode', { simple: true }))
    await retryWhileLocked(() => connection.exec('begin; select 1 from sqlite_schema limit 1'))
    if (mode === 'wal') return connection
    const copy = new Database(connection.serialize())
    connection.close()
    return copy
  } catch (error) {
    connection.close()
    throw error
  }
}

const nothingCompared = { tables: 0, rows: 0, differing: 0, differences: [] } as const

interface InspectionHead {
  readonly seq: number
  readonly head: string
}

export function headOf(database: Connection, projectId: string): InspectionHead {
  const asked = database.prepare<unknown[], InspectionHead>('select seq, head from project where id = ?')
  return asked.get(projectId) ?? { seq: 0, head: '' }
}

export function chainOf(
  { seq, head, error }: Replay,
  kept: InspectionHead,
): Pick<FileInspection, 'events' | 'brokenAt' | 'error'> {
  if (error?.kind === 'projection') {
    return {
      events: seq,
      brokenAt: null,
      error: `Log entry ${error.seq} cannot be applied again: ${error.why}`,
    }
  }
  if (error) return { events: seq, brokenAt: error.seq, error: null }
  // A log entry that is missing at the end leaves the chain whole, but not the head that the project remembers.
  const isCut = kept.seq !== seq || kept.head !== head
  return { events: seq, brokenAt: isCut ? seq + 1 : null, error: null }
}

const maxFindings = 20

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

/** Whether SQLite finds anything wrong in a file; false where there is none. */
export async function isDamaged(file: string): Promise<boolean> {
  if (!existsSync(file)) return false
  try {
    return (await integrityFindings(file)).length > 0
  } catch {
    processEnd.throwIfAborted()
    return true
  }
}

/** What SQLite itself finds wrong in a file, in its own words; empty when it is sound. */
export async function integrityFindings(file: string): Promise<readonly string[]> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3')
  const worker = new Worker(source, { eval: true, workerData: { driver, file, most: maxFindings } })
  const found = new Promise<readonly string[]>((resolve, reject) => {
    worker.once('message', (lines: readonly string[]) => resolve(lines.filter((line) => line !== 'ok')))
    worker.once('error', reject)
    worker.once('exit', () => resolve([]))
  })
  return untilEnd(found).finally(() => void worker.terminate())
}
