import type { Database } from 'better-sqlite3'
import { Failure } from '../../kernel/failure.ts'
import type { RepairResult } from '../ports/store.ts'
import { rebuild } from '../record/comparison.ts'
import { replay } from '../record/replay.ts'
import { openWriter } from '../sqlite/connection.ts'
import { connectDriver, type OpenConnection } from '../sqlite/driver.ts'
import { retryWhileLocked } from '../sqlite/lock-retry.ts'
import { remakeTaskSearch } from '../tables/search.ts'
import { copyToNew, stamp } from './copy.ts'
import { chainOf, integrityFindings, readLogHead } from './inspection.ts'

interface RepairOptions {
  readonly file: string
  readonly projectId: string
  /** Milliseconds, used in the copy's name. */
  readonly at: number
}

/** Rebuilds the tables of a project from its log entries, after copying the whole file. */
export async function repairRecord({ file, projectId, at }: RepairOptions): Promise<RepairResult> {
  const backup = `${file}.before-repair-${stamp(at)}`
  const raw = await retryWhileLocked(() => openWriter(file))
  // Foreign changes may reference missing rows.
  raw.pragma('foreign_keys = off')
  const connection = connectDriver(raw, 'write')
  try {
    await copyToNew(raw, backup)
    if ((await integrityFindings(file)).length > 0) await fixIndexes(raw, { file, backup })
    return { backup, ...(await rebuildTables(connection, projectId)) }
  } finally {
    connection.retire()
  }
}

async function rebuildTables(
  { raw, db }: OpenConnection,
  projectId: string,
): Promise<Omit<RepairResult, 'backup'>> {
  const replayed = await replay(raw, projectId)
  try {
    return await db.transaction().execute(async () => {
      await replayed.follow(raw)
      const { brokenAt, error } = chainOf(replayed, readLogHead(raw, projectId))
      // A project whose last log entries are missing must not appear to end there.
      if (brokenAt !== null || error !== null) throw brokenEventLog(brokenAt, error)
      const rebuilt = await rebuild(raw, replayed, projectId)
      raw.exec(remakeTaskSearch.join(';'))
      return { events: replayed.seq, ...rebuilt }
    })
  } finally {
    replayed.close()
  }
}

/** An index can be rebuilt from its table. A damaged table page cannot. */
async function fixIndexes(
  raw: Database,
  { file, backup }: { readonly file: string; readonly backup: string },
): Promise<void> {
  await retryWhileLocked(() => raw.exec('reindex')).catch(() => undefined)
  const remake = raw.transaction(() => raw.exec(remakeTaskSearch.join(';')))
  await retryWhileLocked(() => remake.immediate()).catch(() => undefined)
  const remaining = await integrityFindings(file)
  if (remaining.length === 0) return
  throw new Failure(
    'UNAVAILABLE',
    `The database file ${file} is damaged beyond its indexes: ${remaining[0]}.`,
    {
      reason: 'database_damaged',
      hint: `Restore a backup with \`waymark backup restore <file>\`. A copy of the file as it is was kept in ${backup}.`,
    },
  )
}

export function brokenEventLog(
  brokenAt: number | null,
  error: string | null,
  hint = 'Restore a backup with `waymark backup restore <file>`.',
): Failure {
  const why =
    error ?? `The log is broken at log entry ${brokenAt}: it, or one before it, was changed or removed.`
  return new Failure('REFUSED', `${why} Tables are made from a whole log only; nothing was changed.`, {
    reason: 'log_broken',
    hint,
  })
}
