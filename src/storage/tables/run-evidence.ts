import type { Insertable, Selectable } from 'kysely'
import type { FactOf } from '../../domain/fact-kinds.ts'
import type {
  CommandResult,
  KeptArtifact,
  RunApproval,
  RunRefusal,
  SettingName,
  Tried,
} from '../../domain/gate/run.ts'
import type { CommandResultId, RunId } from '../../domain/id.ts'
import type { RunReads } from '../../ports/reads.ts'
import { holdUpAnew } from './hold.ts'
import { parsed } from './query.ts'
import type { CommandResultTable, RunApprovalTable, RunArtifactTable, RunRefusalTable } from './run.ts'
import type { Projecting, ReadScope, RowKey } from './scope.ts'

export function artifactRow(
  projectId: string,
  runId: RunId,
  artifact: KeptArtifact,
): Insertable<RunArtifactTable> {
  return {
    project_id: projectId,
    run_id: runId,
    type: artifact.type,
    path: artifact.path,
    bytes: artifact.bytes,
    sha256: artifact.sha256,
    stamp: artifact.stamp,
    content: artifact.content === undefined ? null : JSON.stringify(artifact.content),
    revision: artifact.revision,
    by_name: artifact.by,
    author: artifact.author ?? null,
  }
}

export function artifactOf(row: Selectable<RunArtifactTable>): KeptArtifact {
  return {
    type: row.type,
    path: row.path,
    bytes: row.bytes,
    sha256: row.sha256,
    stamp: row.stamp,
    ...(row.content !== null && { content: parsed(row.content) }),
    revision: row.revision,
    by: row.by_name,
    ...(row.author !== null && { author: row.author }),
  }
}

function refusalRow({ projectId, seq }: RowKey, refusal: RunRefusal): Insertable<RunRefusalTable> {
  return {
    project_id: projectId,
    run_id: refusal.runId,
    seq,
    event: refusal.event,
    code: refusal.code,
    message: refusal.message,
    missing: JSON.stringify(refusal.missing),
    tried: triedText(refusal.tried),
    state: refusal.state,
    revision: refusal.revision,
    role: refusal.role,
    by_name: refusal.by,
    at: refusal.at,
  }
}

export function refusalOf(row: Selectable<RunRefusalTable>): RunRefusal {
  return {
    runId: row.run_id as RunId, // a brand
    event: row.event,
    code: row.code,
    message: row.message,
    missing: parsed(row.missing),
    ...(row.tried !== null && { tried: parsed<Tried>(row.tried) }),
    state: row.state,
    revision: row.revision,
    role: row.role,
    by: row.by_name,
    at: row.at,
  }
}

/** As it is kept, so that what is alike can be counted. */
export function triedText(tried: Tried | null | undefined): string | null {
  return tried == null ? null : JSON.stringify(tried)
}

function approvalRow({ projectId, seq }: RowKey, approval: RunApproval): Insertable<RunApprovalTable> {
  return {
    project_id: projectId,
    run_id: approval.runId,
    seq,
    role: approval.role,
    of_type: approval.of,
    content: approval.content,
    reason: approval.reason,
    by_name: approval.by,
    identity: approval.identity ?? null,
    at: approval.at,
  }
}

export function approvalOf(row: Selectable<RunApprovalTable>): RunApproval {
  return {
    runId: row.run_id as RunId, // a brand
    role: row.role,
    of: row.of_type,
    content: row.content,
    reason: row.reason,
    by: row.by_name,
    ...(row.identity !== null && { identity: row.identity }),
    at: row.at,
  }
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
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }
}

export async function applyRunRefused(
  projecting: Projecting,
  { refusal }: FactOf<'run.refused'>,
): Promise<void> {
  await projecting.db.insertInto('run_refusal').values(refusalRow(projecting, refusal)).execute()
}

export async function applyRunApproved(
  projecting: Projecting,
  { approval }: FactOf<'run.approved'>,
): Promise<void> {
  await projecting.db.insertInto('run_approval').values(approvalRow(projecting, approval)).execute()
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

export async function applySettingChanged(
  projecting: Projecting,
  { name, value }: FactOf<'setting.changed'>,
): Promise<void> {
  const { db, projectId } = projecting
  await db
    .insertInto('setting')
    .values({ project_id: projectId, name, value })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ value }))
    .execute()
  if (name === 'holds_gate') await holdUpAnew(projecting)
}

export function commandResults({
  db,
  projectId,
}: ReadScope): Pick<RunReads, 'commandResult' | 'runningCommands'> {
  return {
    async commandResult({ run, folder }, tree) {
      const row = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('command_line', '=', run)
        .where('folder', '=', folder)
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

export async function settingsOf({ db, projectId }: ReadScope): Promise<ReadonlyMap<SettingName, string>> {
  const rows = await db
    .selectFrom('setting')
    .select(['name', 'value'])
    .where('project_id', '=', projectId)
    .limit(100)
    .execute()
  return new Map(rows.map(({ name, value }) => [name as SettingName, value])) // as it was written
}
