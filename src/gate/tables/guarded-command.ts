import type { Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { SnapshotId } from '../../kernel/id.ts'
import { parseColumn, parseColumnOrNull } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import { type GuardedCommand, guardSnapshotBudget } from '../domain/git-guard/guarded-command.ts'
import type { GuardedCommandReads } from '../ports/guarded-command-reads.ts'

export interface GuardedCommandTable {
  project_id: string
  id: string
  seq: number
  guarded_at: number
  top: string
  client: string
  client_session: string | null
  /** JSON, as the next two: names of commands, paths, names of agents. */
  commands: string
  answer: string
  files: string
  agents: string
  /** JSON; null without a snapshot. */
  snapshot: string | null
  missing: string | null
  bytes: number
}

export async function applyCommandGuarded(
  { db, projectId, seq }: ProjectionContext,
  { command }: ProjectEventOf<'command.guarded'>,
): Promise<void> {
  const {
    id,
    guardedAt,
    top,
    client,
    clientSession,
    commands,
    answer,
    files,
    agents,
    snapshot,
    missing,
    bytes,
  } = command
  await db
    .insertInto('guarded_command')
    .values({
      project_id: projectId,
      id,
      seq,
      guarded_at: guardedAt,
      top,
      client,
      client_session: clientSession,
      commands: JSON.stringify(commands),
      answer,
      files: JSON.stringify(files),
      agents: JSON.stringify(agents),
      snapshot: snapshot === null ? null : JSON.stringify(snapshot),
      missing,
      bytes,
    })
    .execute()
}

/** The snapshots before guarded commands since a time, as JSON: the newest within their share of the disk budget. */
export async function guardedSnapshots(
  { db, projectId }: ReadScope,
  since: number,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('guarded_command')
    .select(['snapshot', 'bytes'])
    .where('project_id', '=', projectId)
    .where('guarded_at', '>=', since)
    .where('snapshot', 'is not', null)
    .orderBy('guarded_at', 'desc')
    .execute()
  let left = guardSnapshotBudget
  const kept: string[] = []
  for (const { snapshot, bytes } of rows) {
    left -= Number(bytes)
    if (left < 0) break
    if (snapshot !== null) kept.push(snapshot)
  }
  return kept
}

const maxCommands = 1_000

export function guardedCommandReads({ db, projectId }: ReadScope): GuardedCommandReads {
  const all = db.selectFrom('guarded_command').selectAll().where('project_id', '=', projectId)
  return {
    async byId(id) {
      const row = await all.where('id', '=', id).executeTakeFirst()
      return row === undefined ? null : commandOf(row)
    },
    async since(time, top) {
      const rows = await all
        .where('guarded_at', '>=', time)
        .$if(top !== undefined, (query) => query.where('top', '=', top ?? ''))
        .orderBy('guarded_at', 'desc')
        .limit(maxCommands)
        .execute()
      return rows.map(commandOf)
    },
  }
}

function commandOf(row: Selectable<GuardedCommandTable>): GuardedCommand {
  return {
    id: row.id as SnapshotId, // a brand
    guardedAt: Number(row.guarded_at),
    top: row.top,
    client: row.client,
    clientSession: row.client_session,
    commands: parseColumn<string[]>(row.commands),
    answer: row.answer as GuardedCommand['answer'],
    files: parseColumn<string[]>(row.files),
    agents: parseColumn<string[]>(row.agents),
    snapshot: parseColumnOrNull<SnapshotLocation>(row.snapshot),
    missing: row.missing,
    bytes: Number(row.bytes),
  }
}
