import { existsSync, statSync } from 'node:fs'
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

/** Without the anchor, which the caller checks. */
type FileInspection = Omit<WholeInspection, 'anchor' | 'damage'> & { readonly damage: readonly string[] }

/** Checks a whole database: SQLite's integrity, the chain of hashes, and every table against a replay. */
export async function inspectRecord(file: string, projectId: string | null): Promise<FileInspection> {
  if (projectId === null) {
    const damage = await findingsOfRecord(file)
    return { events: 0, damage, brokenAt: null, error: null, ...nothingCompared }
  }
  const database = await openOneState(file)
  try {
    const [damage, comparison] = await Promise.allSettled([
      findingsOfRecord(file),
      compareWithEvents(database, projectId),
    ])
    if (damage.status === 'rejected') throw damage.reason
    if (comparison.status === 'rejected') throw comparison.reason
    return { damage: damage.value, ...comparison.value }
  } finally {
    database.close()
  }
}

/** Only the chain of hashes. */
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
  const chain = chainOf(replayed, readLogHead(database, projectId))
  // A replay stops where the log breaks, so comparing its tables would report false differences.
  if (chain.brokenAt !== null || chain.error !== null) return { ...chain, ...nothingCompared }
  const { tables, rows, differing, differences } = await compare(database, replayed.database, projectId, {
    adopt: true,
  })
  return { ...chain, tables: tables.length, rows, differing, differences }
}

/** One snapshot for log, head and tables. Others can only write meanwhile in WAL mode. */
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

export function readLogHead(database: Connection, projectId: string): InspectionHead {
  const query = database.prepare<unknown[], InspectionHead>('select seq, head from project where id = ?')
  return query.get(projectId) ?? { seq: 0, head: '' }
}

export function chainOf(
  { seq, head, error }: Replay,
  stored: InspectionHead,
): Pick<FileInspection, 'events' | 'brokenAt' | 'error'> {
  if (error?.kind === 'projection') {
    return {
      events: seq,
      brokenAt: null,
      error: `Log entry ${error.seq} cannot be applied again: ${error.why}`,
    }
  }
  if (error) return { events: seq, brokenAt: error.seq, error: null }
  // A missing last entry leaves the chain intact, but differs from the project's stored head.
  const isCut = stored.seq !== seq || stored.head !== head
  return { events: seq, brokenAt: isCut ? seq + 1 : null, error: null }
}

const maxFindings = 20

// In its own thread: the check reads the whole file in one call. SQLite locks are shared by all threads of a process.
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

/** Whether SQLite finds a problem in a file; false for a missing file. */
export async function isDamaged(file: string): Promise<boolean> {
  if (!existsSync(file)) return false
  try {
    return (await integrityFindings(file)).length > 0
  } catch {
    processEnd.throwIfAborted()
    return true
  }
}

/** SQLite's own findings; empty for a sound file. */
export async function integrityFindings(file: string): Promise<readonly string[]> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3')
  const worker = new Worker(source, { eval: true, workerData: { driver, file, most: maxFindings } })
  const found = new Promise<readonly string[]>((resolve, reject) => {
    worker.once('message', (lines: readonly string[]) => resolve(lines.filter(isFinding)))
    worker.once('error', reject)
    worker.once('exit', () => resolve([]))
  })
  return untilEnd(found).finally(() => void worker.terminate())
}

/** In bytes. SQLite checks a file of this size in some milliseconds, less than a thread needs to start. */
const maxSizeWithoutThread = 4 * 1024 * 1024

/** The same, of a record that this process reads anyway: a small one is checked at once. */
async function findingsOfRecord(file: string): Promise<readonly string[]> {
  const sizes = [file, `${file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  if (sizes.some((size) => size > maxSizeWithoutThread)) return integrityFindings(file)
  return retryWhileLocked(() => {
    const connection = openReadOnly(file)
    try {
      const rows = connection.pragma(`integrity_check(${maxFindings})`) as readonly IntegrityRow[]
      return rows.map((row) => row.integrity_check).filter(isFinding)
    } finally {
      connection.close()
    }
  })
}

interface IntegrityRow {
  readonly integrity_check: string
}

function isFinding(line: string): boolean {
  return line !== 'ok'
}
