import type { Insertable, Selectable } from 'kysely'
import type { FactOf } from '../../domain/fact-kinds.ts'
import type { EmissionRepeat, RunEvent, RunRecord } from '../../domain/gate/run.ts'
import type { MissionId, RunEventId, RunId, TaskId } from '../../domain/id.ts'
import { inBatches, parsed } from './query.ts'
import { artifactRow } from './run-evidence.ts'
import type { Projecting, RowKey } from './scope.ts'

export interface ProcessTable {
  project_id: string
  hash: string
  id: string
  version: string
  definition: string
  seq: number
}

export interface RunTable {
  project_id: string
  id: string
  seq: number
  process_hash: string
  process_id: string
  process_version: string
  process_name: string
  mission_id: string | null
  task_id: string | null
  status: string
  state: string
  revision: number
  context: string
  created_by: string
  created_at: number
  updated_at: number
  ended_at: number | null
}

export interface RunEventTable {
  project_id: string
  run_id: string
  revision: number
  id: string
  seq: number
  kind: string
  event: string
  payload: string
  from_state: string
  to_state: string
  state_changed: number
  artifacts: string
  unsatisfied: string
  role: string | null
  by_name: string
  author: string | null
  idempotency_key: string | null
  key_owner: string | null
  input_hash: string | null
  answer: string | null
  at: number
}

export interface RunVisitTable {
  project_id: string
  run_id: string
  state: string
  count: number
  first: number
  last: number
}

export interface RunArtifactTable {
  project_id: string
  run_id: string
  type: string
  path: string
  bytes: number
  sha256: string
  stamp: string
  content: string | null
  revision: number
  by_name: string
  author: string | null
}

export interface RunRefusalTable {
  project_id: string
  run_id: string
  seq: number
  event: string
  code: string
  message: string
  missing: string
  tried: string | null
  state: string
  revision: number
  role: string | null
  by_name: string
  at: number
}

export interface RunApprovalTable {
  project_id: string
  run_id: string
  seq: number
  role: string
  of_type: string | null
  content: string
  reason: string | null
  by_name: string
  identity: string | null
  at: number
}

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
  started_at: number
  ended_at: number | null
}

export interface SettingTable {
  project_id: string
  name: string
  value: string
}

function runRow({ projectId, seq }: RowKey, run: RunRecord): Insertable<RunTable> {
  return {
    project_id: projectId,
    id: run.id,
    seq,
    process_hash: run.process.hash,
    process_id: run.process.id,
    process_version: run.process.version,
    process_name: run.process.name,
    mission_id: run.missionId,
    task_id: run.taskId,
    status: run.status,
    state: run.state,
    revision: run.revision,
    context: JSON.stringify(run.context),
    created_by: run.createdBy,
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    ended_at: run.endedAt,
  }
}

export function runOf(row: Selectable<RunTable>): RunRecord {
  return {
    id: row.id as RunId, // a brand
    process: {
      hash: row.process_hash,
      id: row.process_id,
      version: row.process_version,
      name: row.process_name,
    },
    missionId: row.mission_id as MissionId | null, // a brand
    taskId: row.task_id as TaskId | null, // a brand
    status: row.status as RunRecord['status'], // as it was written
    state: row.state,
    revision: row.revision,
    context: parsed(row.context),
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
  }
}

function runEventRow(
  { projectId, seq }: RowKey,
  event: RunEvent,
  repeat: EmissionRepeat | null,
): Insertable<RunEventTable> {
  return {
    project_id: projectId,
    run_id: event.runId,
    revision: event.revision,
    id: event.id,
    seq,
    kind: event.kind,
    event: event.event,
    payload: JSON.stringify(event.payload),
    from_state: event.from,
    to_state: event.to,
    state_changed: event.stateChanged ? 1 : 0,
    artifacts: JSON.stringify(event.artifacts),
    unsatisfied: JSON.stringify(event.unsatisfied),
    role: event.role,
    by_name: event.by,
    author: event.author ?? null,
    idempotency_key: repeat?.key ?? null,
    key_owner: repeat?.owner ?? null,
    input_hash: repeat?.inputHash ?? null,
    answer: repeat === null ? null : JSON.stringify(repeat.answer),
    at: event.at,
  }
}

export function runEventOf(row: Selectable<RunEventTable>): RunEvent {
  return {
    id: row.id as RunEventId, // a brand
    runId: row.run_id as RunId, // a brand
    revision: row.revision,
    kind: row.kind as RunEvent['kind'], // as it was written
    event: row.event,
    payload: parsed(row.payload),
    from: row.from_state,
    to: row.to_state,
    stateChanged: row.state_changed === 1,
    artifacts: parsed(row.artifacts),
    unsatisfied: parsed(row.unsatisfied),
    role: row.role,
    by: row.by_name,
    ...(row.author !== null && { author: row.author }),
    at: row.at,
  }
}

/** What a key is bound to; null in an event that came without one. */
export function repeatOf(row: Selectable<RunEventTable>): EmissionRepeat | null {
  if (row.idempotency_key === null || row.input_hash === null || row.answer === null) return null
  return {
    key: row.idempotency_key,
    ...(row.key_owner !== null && { owner: row.key_owner }),
    inputHash: row.input_hash,
    eventId: row.id as RunEventId, // a brand
    answer: parsed(row.answer),
  }
}

export async function applyProcessKept(
  { db, projectId, seq }: Projecting,
  { hash, definition }: FactOf<'process.kept'>,
): Promise<void> {
  await db
    .insertInto('process')
    .values({
      project_id: projectId,
      hash,
      id: definition.id,
      version: definition.version,
      definition: JSON.stringify(definition),
      seq,
    })
    .execute()
}

export async function applyRunCreated(projecting: Projecting, { run }: FactOf<'run.created'>): Promise<void> {
  await projecting.db.insertInto('run').values(runRow(projecting, run)).execute()
  await enter(projecting, { runId: run.id, state: run.state, revision: run.revision })
}

export async function applyRunAdvanced(
  projecting: Projecting,
  { event, status, context, repeat }: FactOf<'run.advanced'>,
): Promise<void> {
  const { db, projectId, at } = projecting
  await db
    .updateTable('run')
    .set({
      state: event.to,
      revision: event.revision,
      status,
      updated_at: at,
      ...(context !== null && { context: JSON.stringify(context) }),
      ...(status !== 'active' && { ended_at: at }),
    })
    .where('project_id', '=', projectId)
    .where('id', '=', event.runId)
    .execute()
  await db
    .insertInto('run_event')
    .values(runEventRow(projecting, event, repeat))
    .execute()
  await keepArtifacts(projecting, event)
  if (event.stateChanged)
    await enter(projecting, { runId: event.runId, state: event.to, revision: event.revision })
}

export async function applyRunMigrated(
  projecting: Projecting,
  { event, process, status }: FactOf<'run.migrated'>,
): Promise<void> {
  const { db, projectId, at } = projecting
  await db
    .updateTable('run')
    .set({
      process_hash: process.hash,
      process_id: process.id,
      process_version: process.version,
      process_name: process.name,
      state: event.to,
      revision: event.revision,
      status,
      updated_at: at,
      ...(status !== 'active' && { ended_at: at }),
    })
    .where('project_id', '=', projectId)
    .where('id', '=', event.runId)
    .execute()
  await db
    .insertInto('run_event')
    .values(runEventRow(projecting, event, null))
    .execute()
  if (event.stateChanged)
    await enter(projecting, { runId: event.runId, state: event.to, revision: event.revision })
}

export async function applyRunCancelled(
  projecting: Projecting,
  { event }: FactOf<'run.cancelled'>,
): Promise<void> {
  const { db, projectId, at } = projecting
  await db
    .updateTable('run')
    .set({ status: 'cancelled', revision: event.revision, updated_at: at, ended_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', event.runId)
    .execute()
  await db
    .insertInto('run_event')
    .values(runEventRow(projecting, event, null))
    .execute()
}

/** The same file of the same type takes the place of what was handed in before. */
async function keepArtifacts({ db, projectId }: Projecting, { runId, artifacts }: RunEvent): Promise<void> {
  for (const batch of inBatches(artifacts)) {
    await db
      .insertInto('run_artifact')
      .values(batch.map((artifact) => artifactRow(projectId, runId, artifact)))
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'run_id', 'type', 'path']).doUpdateSet((eb) => ({
          bytes: eb.ref('excluded.bytes'),
          sha256: eb.ref('excluded.sha256'),
          stamp: eb.ref('excluded.stamp'),
          content: eb.ref('excluded.content'),
          revision: eb.ref('excluded.revision'),
          by_name: eb.ref('excluded.by_name'),
          author: eb.ref('excluded.author'),
        })),
      )
      .execute()
  }
}

async function enter(
  { db, projectId }: Projecting,
  { runId, state, revision }: { readonly runId: string; readonly state: string; readonly revision: number },
): Promise<void> {
  await db
    .insertInto('run_visit')
    .values({ project_id: projectId, run_id: runId, state, count: 1, first: revision, last: revision })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'run_id', 'state']).doUpdateSet((eb) => ({
        count: eb('run_visit.count', '+', 1),
        last: eb.ref('excluded.last'),
      })),
    )
    .execute()
}
