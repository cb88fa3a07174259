import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Insertable, Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { CommandResultId, RunId } from '../../kernel/id.ts'
import { bytesOfColumn } from '../../remote/tables/machine.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { CommandResult } from '../domain/run.ts'
import type { RunReads } from '../ports/run-reads.ts'

export interface CommandResultTable {
  project_id: string
  id: string
  seq: number
  run_id: string | null
  command_line: string
  folder: string
  tree: string
  status: string
  exit_code: number | null
  output: string
  tree_held: number
  runner: string
  /** 1 for a result that a runner submitted. */
  by_runner: number
  started_at: number
  ended_at: number | null
}

/** All that a command printed: no replay makes it. */
export interface CommandOutputTable {
  project_id: string
  command_id: string
  /** Hash of the text. */
  sha256: string
  bytes: number
  /** The gzipped text; empty if it was removed. */
  content: Buffer
  removed_at: number | null
}

function commandRow({ projectId, seq }: RowKey, command: CommandResult): Insertable<CommandResultTable> {
  return {
    project_id: projectId,
    id: command.id,
    seq,
    run_id: command.runId,
    command_line: command.run,
    folder: command.folder,
    tree: command.tree,
    status: command.status,
    exit_code: command.exitCode,
    output: command.output,
    tree_held: command.treeHeld ? 1 : 0,
    runner: command.runner,
    by_runner: command.byRunner ? 1 : 0,
    started_at: command.startedAt,
    ended_at: command.endedAt,
  }
}

function commandOf(row: Selectable<CommandResultTable>): CommandResult {
  return {
    id: row.id as CommandResultId, // a brand
    runId: row.run_id as RunId | null, // a brand
    run: row.command_line,
    folder: row.folder,
    tree: row.tree,
    status: row.status as CommandResult['status'], // as it was written
    exitCode: row.exit_code,
    output: row.output,
    treeHeld: row.tree_held === 1,
    runner: row.runner,
    ...(row.by_runner === 1 && { byRunner: true }),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }
}

export async function applyCommandStarted(
  projecting: ProjectionContext,
  { command }: ProjectEventOf<'command.started'>,
): Promise<void> {
  await projecting.db.insertInto('command_result').values(commandRow(projecting, command)).execute()
}

export async function applyCommandEnded(
  { db, projectId, at: endedAt }: ProjectionContext,
  { commandId, status, exitCode, output, treeHeld }: ProjectEventOf<'command.ended'>,
): Promise<void> {
  await db
    .updateTable('command_result')
    .set({ status, exit_code: exitCode, output, tree_held: treeHeld ? 1 : 0, ended_at: endedAt })
    .where('project_id', '=', projectId)
    .where('id', '=', commandId)
    .execute()
}

/** Keeps all that a command printed. */
export async function keepOutput(
  { db, projectId }: ReadScope,
  commandId: CommandResultId,
  text: string,
): Promise<void> {
  const bytes = Buffer.from(text)
  const row = {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    content: gzipSync(bytes),
    removed_at: null,
  }
  await db
    .insertInto('command_output')
    .values({ project_id: projectId, command_id: commandId, ...row })
    .onConflict((conflict) => conflict.columns(['project_id', 'command_id']).doNothing())
    .execute()
}

export async function removeOutputs(
  { db, projectId }: ReadScope,
  { before, at: removedAt }: { readonly before: number; readonly at: number },
): Promise<void> {
  await db
    .updateTable('command_output')
    .set({ content: Buffer.alloc(0), removed_at: removedAt })
    .where('project_id', '=', projectId)
    .where('removed_at', 'is', null)
    .where('command_id', 'in', resultsEndedBefore({ db, projectId }, before))
    .execute()
}

function resultsEndedBefore({ db, projectId }: ReadScope, before: number) {
  return db
    .selectFrom('command_result')
    .select('id')
    .where('project_id', '=', projectId)
    .where('ended_at', '<', before)
}

export function commandResults({
  db,
  projectId,
}: ReadScope): Pick<
  RunReads,
  'command' | 'commandResult' | 'commandsRunningIn' | 'commandsOf' | 'commandOutput' | 'outputsBefore'
> {
  return {
    async command(id) {
      const row = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? commandOf(row) : null
    },
    async commandsRunningIn(folder) {
      const rows = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('folder', '=', folder)
        .where('status', '=', 'running')
        .orderBy('seq', 'desc')
        .limit(20)
        .execute()
      return rows.map(commandOf)
    },
    async commandOutput(id) {
      const row = await db
        .selectFrom('command_output')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('command_id', '=', id)
        .executeTakeFirst()
      if (!row) return null
      const text = row.removed_at === null ? gunzipSync(bytesOfColumn(row.content)).toString('utf8') : null
      return { text, bytes: row.bytes, removedAt: row.removed_at }
    },
    async outputsBefore(before) {
      const row = await db
        .selectFrom('command_output')
        .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number | null>('bytes').as('bytes')])
        .where('project_id', '=', projectId)
        .where('removed_at', 'is', null)
        .where('command_id', 'in', resultsEndedBefore({ db, projectId }, before))
        .executeTakeFirstOrThrow()
      return { count: row.count, bytes: row.bytes ?? 0 }
    },
    async commandResult({ run, folder, reportedBy }, tree) {
      const row = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('command_line', '=', run)
        .$if(reportedBy === undefined, (query) => query.where('folder', '=', folder))
        .$if(reportedBy === 'runner', (query) => query.where('by_runner', '=', 1))
        .$if(tree !== undefined, (query) => query.where('tree', '=', tree ?? ''))
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? commandOf(row) : null
    },
    async commandsOf(runId, limit) {
      const rows = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
        .where('status', '!=', 'running')
        .orderBy('seq')
        .limit(limit)
        .execute()
      return rows.map(commandOf)
    },
  }
}
