import { Failure } from '../domain/failure.ts'
import type { StoreHealth } from '../ports/store.ts'
import type { OpenConnection } from './sqlite/dialect.ts'
import { canWriteBeside } from './sqlite/journal-mode.ts'
import { numberOf } from './sqlite/open-connection.ts'

interface Asked {
  open(): Promise<OpenConnection | null>
  seq(): Promise<number>
}

/** A database that cannot be used is told as a warning: whoever asks wants to know why. */
export async function healthOf(file: string, asked: Asked): Promise<StoreHealth> {
  const nothing = {
    location: file,
    exists: false,
    journalMode: null,
    schemaVersion: null,
    seq: 0,
    warnings: [],
  }
  try {
    const open = await asked.open()
    if (!open) return nothing
    const journalMode = modeOf(open, file)
    return {
      location: file,
      exists: true,
      journalMode,
      schemaVersion: numberOf(open.raw, 'user_version'),
      seq: await asked.seq(),
      warnings: journalMode === 'memory' ? [memoryWarning(file)] : [],
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const way = error.hint === undefined ? '' : ` ${error.hint}`
    return { ...nothing, exists: true, warnings: [`${error.message}${way}`] }
  }
}

// Only WAL is written in the file; how another mode keeps its journal each process decides by what it may write.
function modeOf({ raw }: OpenConnection, file: string): string {
  if (raw.pragma('journal_mode', { simple: true }) === 'wal') return 'wal'
  return canWriteBeside(file) ? 'persist' : 'memory'
}

function memoryWarning(file: string): string {
  return `No file can be written beside ${file}, so its journal is kept in memory: a process that is killed while it writes may damage it.`
}
