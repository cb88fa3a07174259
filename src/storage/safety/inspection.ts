import Database, { type Database as Connection } from 'better-sqlite3'
import type { Inspection as WholeInspection } from '../../ports/store.ts'
import { compare } from '../record/comparison.ts'
import { type Replay, replay } from '../record/replay.ts'
import { openReader } from '../sqlite/open-connection.ts'
import { patiently } from '../sqlite/patience.ts'
import { integrityFindings } from './integrity-check.ts'

/** The anchor is another's to look at. */
type Inspection = Omit<WholeInspection, 'anchor'>

/** Looks through a whole database: what SQLite says of the file, the chain of hashes, every table beside its facts. */
export async function inspectRecord(file: string, projectId: string | null): Promise<Inspection> {
  const damage = await integrityFindings(file)
  if (projectId === null) return { facts: 0, damage, brokenAt: null, trouble: null, ...nothingCompared }
  const database = await oneState(file)
  try {
    return { damage, ...(await replayedBeside(database, projectId)) }
  } finally {
    database.close()
  }
}

async function replayedBeside(database: Connection, projectId: string): Promise<Omit<Inspection, 'damage'>> {
  const replayed = await replay(database, projectId)
  try {
    const chain = chainOf(replayed, headOf(database, projectId))
    // Where the journal breaks, what comes after it was not replayed, and every comparison would tell of that.
    if (chain.brokenAt !== null || chain.trouble !== null) return { ...chain, ...nothingCompared }
    const { tables, rows, differing, differences } = await compare(database, replayed.database, projectId)
    return { ...chain, tables: tables.length, rows, differing, differences }
  } finally {
    replayed.close()
  }
}

/** Facts, head and tables as they were at one moment. Only with a log can others write while a reader reads long. */
async function oneState(file: string): Promise<Connection> {
  const connection = openReader(file)
  try {
    const mode = await patiently(() => connection.pragma('journal_mode', { simple: true }))
    await patiently(() => connection.exec('begin; select 1 from sqlite_schema limit 1'))
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

interface Head {
  readonly seq: number
  readonly head: string
}

export function headOf(database: Connection, projectId: string): Head {
  const asked = database.prepare<unknown[], Head>('select seq, head from project where id = ?')
  return asked.get(projectId) ?? { seq: 0, head: '' }
}

export function chainOf(
  { seq, head, trouble }: Replay,
  kept: Head,
): Pick<Inspection, 'facts' | 'brokenAt' | 'trouble'> {
  if (trouble?.kind === 'projection') {
    return {
      facts: seq,
      brokenAt: null,
      trouble: `Fact ${trouble.seq} cannot be applied again: ${trouble.why}`,
    }
  }
  if (trouble) return { facts: seq, brokenAt: trouble.seq, trouble: null }
  // A fact that is missing at the end leaves the chain whole, but not the head that the project remembers.
  const isCut = kept.seq !== seq || kept.head !== head
  return { facts: seq, brokenAt: isCut ? seq + 1 : null, trouble: null }
}
