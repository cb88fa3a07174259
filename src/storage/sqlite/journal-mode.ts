import { closeSync, openSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { patiently } from './patience.ts'

export type JournalMode = 'wal' | 'persist' | 'memory'

/** How a database that is being made keeps its journal. */
export function modeForNew(file: string, sandboxJournal: boolean): JournalMode {
  if (!canWriteBeside(file)) return 'memory'
  return sandboxJournal ? 'persist' : 'wal'
}

/** An existing database keeps its mode: WAL is written in the file, otherwise the side file is kept. */
export async function keepMode(database: Database, file: string): Promise<void> {
  const now = await patiently(() => database.pragma('journal_mode', { simple: true }))
  if (now !== 'wal') setRollbackMode(database, canWriteBeside(file) ? 'persist' : 'memory')
}

export function setRollbackMode(database: Database, mode: Exclude<JournalMode, 'wal'>): void {
  database.pragma(`journal_mode = ${mode}`)
}

/** Nobody else may be in the file while it changes over; where the disk knows no shared memory it stays as it is. */
export async function switchToWal(database: Database): Promise<void> {
  const mode = await patiently(() => database.pragma('journal_mode = wal', { simple: true }))
  if (mode !== 'wal') setRollbackMode(database, 'persist')
}

export function canWriteBeside(file: string): boolean {
  try {
    closeSync(openSync(`${file}-journal`, 'a', 0o600))
    return true
  } catch {
    return false
  }
}
