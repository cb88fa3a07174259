import type { Insertable, Selectable } from 'kysely'
import type { AttemptId, HoldId, IssueId, MissionId, PhaseId, RunId, TaskId } from '../../domain/id.ts'
import type { Hold } from '../../domain/track/records.ts'
import type { HoldTable } from '../schema/record-tables.ts'
import { parsed, parsedOrNull } from './json.ts'
import type { RowKey } from './row-key.ts'

export function holdRow({ projectId, seq }: RowKey, hold: Hold): Insertable<HoldTable> {
  return {
    project_id: projectId,
    id: hold.id,
    seq,
    kind: hold.kind,
    mission_id: hold.missionId,
    phase_id: hold.phaseId,
    task_id: hold.taskId,
    attempt_id: hold.attemptId,
    issue_id: hold.issueId,
    run_id: hold.runId,
    request: hold.request === null ? null : JSON.stringify(hold.request),
    request_hash: hold.request?.kind === 'command' ? hold.request.hash : null,
    reason: hold.reason,
    paths: JSON.stringify(hold.paths),
    opened_by: hold.openedBy,
    opened_at: hold.openedAt,
    status: hold.status,
    answer: hold.answer,
    closed_by: hold.closedBy,
    closed_at: hold.closedAt,
  }
}

export function holdOf(row: Selectable<HoldTable>): Hold {
  return {
    id: row.id as HoldId, // a brand
    kind: row.kind as Hold['kind'], // as it was written
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    taskId: row.task_id as TaskId | null, // a brand
    attemptId: row.attempt_id as AttemptId | null, // a brand
    issueId: row.issue_id as IssueId | null, // a brand
    runId: row.run_id as RunId | null, // a brand
    request: parsedOrNull(row.request),
    reason: row.reason,
    paths: parsed(row.paths),
    openedBy: row.opened_by,
    openedAt: row.opened_at,
    status: row.status as Hold['status'], // as it was written
    answer: row.answer,
    closedBy: row.closed_by,
    closedAt: row.closed_at,
  }
}
