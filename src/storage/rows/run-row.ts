import type { Insertable, Selectable } from 'kysely'
import type { RunRecord } from '../../domain/gate/run-record.ts'
import type { MissionId, RunId, TaskId } from '../../domain/id.ts'
import type { RunTable } from '../schema/gate-tables.ts'
import { parsed } from './json.ts'
import type { RowKey } from './row-key.ts'

export function runRow({ projectId, seq }: RowKey, run: RunRecord): Insertable<RunTable> {
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
