import type { Insertable, Selectable } from 'kysely'
import type { FactOf } from '../../domain/fact-kinds.ts'
import type { CommandResult } from '../../domain/gate/run.ts'
import type { CommandResultId, RunId } from '../../domain/id.ts'
import type { RunReads } from '../../ports/reads.ts'
import type { Projecting, ReadScope, RowKey } from './tables.ts'

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
  /** 1 for a result that a runner handed in. */
  by_runner: number
  started_at: number
  ended_at: number | null
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
  projecting: Projecting,
  { command }: FactOf<'command.started'>,
): Promise<void> {
  await projecting.db.insertInto('command_result').values(commandRow(projecting, command)).execute()
}

export async function applyCommandEnded(
  { db, projectId, at }: Projecting,
  { commandId, status, exitCode, output, treeHeld }: FactOf<'command.ended'>,
): Promise<void> {
  await db
    .updateTable('command_result')
    .set({ status, exit_code: exitCode, output, tree_held: treeHeld ? 1 : 0, ended_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', commandId)
    .execute()
}

export function commandResults({
  db,
  projectId,
}: ReadScope): Pick<RunReads, 'commandResult' | 'runningCommands'> {
  return {
    async commandResult({ run, folder, by }, tree) {
      const row = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('command_line', '=', run)
        .$if(by === undefined, (query) => query.where('folder', '=', folder))
        .$if(by === 'runner', (query) => query.where('by_runner', '=', 1))
        .$if(tree !== undefined, (query) => query.where('tree', '=', tree ?? ''))
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? commandOf(row) : null
    },
    async runningCommands() {
      const rows = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('status', '=', 'running')
        .orderBy('seq')
        .limit(100)
        .execute()
      return rows.map(commandOf)
    },
  }
}
