import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { RemoteMachineSideWrite } from '../../store/ports/store.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import type { RemoteMachineReads, RemoteMachineRecord } from '../ports/machine-reads.ts'

/** Data outside the log: a replay does not restore it, and no decision of the domain uses it. */

export interface RemoteMachineTable {
  project_id: string
  id: string
  name: string
  /** The name of the token that it last used. */
  token: string
  version: string
  trusts_commands: number
  seen_at: number
}

export interface AttemptDiffTable {
  project_id: string
  attempt_id: string
  /** Of the text. */
  sha256: string
  bytes: number
  cut: number
  /** The text, as gzip writes it. */
  content: Buffer
}

export interface CommandLeaseTable {
  project_id: string
  command_id: string
  until: number
}

export async function writeRemoteMachine(
  { db, projectId }: ReadScope,
  sideWrite: RemoteMachineSideWrite,
): Promise<void> {
  if (sideWrite.kind === 'machine seen') {
    const { id, name, token, version, trustsCommands, at: seenAt } = sideWrite
    const row = { name, token, version, trusts_commands: trustsCommands ? 1 : 0, seen_at: seenAt }
    await db
      .insertInto('machine')
      .values({ project_id: projectId, id, ...row })
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'id']).doUpdateSet(row).where('machine.seen_at', '<=', seenAt),
      )
      .execute()
    return
  }
  if (sideWrite.kind === 'command leased') {
    const { commandId, until } = sideWrite
    await db
      .insertInto('command_lease')
      .values({ project_id: projectId, command_id: commandId, until })
      .onConflict((conflict) => conflict.columns(['project_id', 'command_id']).doUpdateSet({ until }))
      .execute()
    return
  }
  if (sideWrite.kind === 'diffs removed') return removeDiffs({ db, projectId }, sideWrite.before)
  const { attemptId, text, cut } = sideWrite
  const bytes = Buffer.from(text)
  const row = {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    cut: cut ? 1 : 0,
    content: gzipSync(bytes),
  }
  await db
    .insertInto('attempt_diff')
    .values({ project_id: projectId, attempt_id: attemptId, ...row })
    .onConflict((conflict) => conflict.columns(['project_id', 'attempt_id']).doUpdateSet(row))
    .execute()
}

/** Removes the texts of diffs of old attempts; their hashes and sizes stay. */
async function removeDiffs({ db, projectId }: ReadScope, before: number): Promise<void> {
  await db
    .updateTable('attempt_diff')
    .set({ content: Buffer.alloc(0) })
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', attemptsEndedBefore({ db, projectId }, before))
    .execute()
}

function attemptsEndedBefore({ db, projectId }: ReadScope, before: number) {
  return db
    .selectFrom('attempt')
    .select('id')
    .where('project_id', '=', projectId)
    .where('closed_at', '<', before)
}

/** Bytes from the database: a buffer from SQLite, hexadecimal text from PostgreSQL. */
export function bytesOfColumn(column: Buffer | string): Buffer {
  return typeof column === 'string' ? Buffer.from(column.slice(2), 'hex') : column
}

const maxMachines = 500

function remoteMachineOf(row: RemoteMachineTable): RemoteMachineRecord {
  const { id, name, token, version, trusts_commands: trusts, seen_at: seenAt } = row
  return { id, name, token, version, trustsCommands: trusts === 1, seenAt }
}

export function remoteMachineReads({ db, projectId }: ReadScope): RemoteMachineReads {
  return {
    async all() {
      const rows = await db
        .selectFrom('machine')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('seen_at', 'desc')
        .limit(maxMachines)
        .execute()
      return rows.map(remoteMachineOf)
    },
    async byId(id) {
      const row = await db
        .selectFrom('machine')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? remoteMachineOf(row) : null
    },
    async diff(attemptId) {
      const row = await db
        .selectFrom('attempt_diff')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('attempt_id', '=', attemptId)
        .executeTakeFirst()
      if (!row) return null
      const content = bytesOfColumn(row.content)
      return {
        text: content.length === 0 ? null : gunzipSync(content).toString('utf8'),
        sha256: row.sha256,
        bytes: row.bytes,
        cut: row.cut === 1,
      }
    },
    async diffsBefore(before) {
      const row = await db
        .selectFrom('attempt_diff')
        .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number | null>('bytes').as('bytes')])
        .where('project_id', '=', projectId)
        .where('content', '!=', Buffer.alloc(0))
        .where('attempt_id', 'in', attemptsEndedBefore({ db, projectId }, before))
        .executeTakeFirstOrThrow()
      return { count: row.count, bytes: row.bytes ?? 0 }
    },
    async leasedUntil(commandId) {
      const row = await db
        .selectFrom('command_lease')
        .select('until')
        .where('project_id', '=', projectId)
        .where('command_id', '=', commandId)
        .executeTakeFirst()
      return row?.until ?? null
    },
  }
}
