import type { Insertable, Selectable } from 'kysely'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../domain/id.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { ChangeCounts } from '../../ports/reads/task-reads.ts'
import type { AttemptTable } from '../schema/task-tables.ts'
import { parsed, parsedOrNull } from './json.ts'
import type { RowKey } from './row-key.ts'

export function attemptRow({ projectId, seq }: RowKey, attempt: Attempt): Insertable<AttemptTable> {
  return {
    project_id: projectId,
    id: attempt.id,
    seq,
    task_id: attempt.taskId,
    mission_id: attempt.missionId,
    phase_id: attempt.phaseId,
    number: attempt.number,
    agent_name: attempt.agentName,
    caller_type: attempt.callerType,
    actor: JSON.stringify(attempt.actor),
    areas: JSON.stringify(attempt.areas),
    status: attempt.status,
    tree_top: attempt.snapshot.top,
    snapshot: JSON.stringify(attempt.snapshot),
    end_snapshot: attempt.endSnapshot === null ? null : JSON.stringify(attempt.endSnapshot),
    files_added: null,
    files_modified: null,
    files_deleted: null,
    files_renamed: null,
    scope_matches: null,
    opened_at: attempt.openedAt,
    last_call_at: attempt.lastCallAt,
    closed_at: attempt.closedAt,
  }
}

export function attemptOf(row: Selectable<AttemptTable>): Attempt {
  return {
    id: row.id as AttemptId, // a brand
    taskId: row.task_id as TaskId, // a brand
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    number: row.number,
    agentName: row.agent_name,
    callerType: row.caller_type as Attempt['callerType'], // as it was written
    actor: parsed(row.actor),
    areas: parsed(row.areas),
    status: row.status as Attempt['status'], // as it was written
    snapshot: parsed(row.snapshot),
    endSnapshot: parsedOrNull(row.end_snapshot),
    openedAt: row.opened_at,
    lastCallAt: row.last_call_at,
    closedAt: row.closed_at,
  }
}

/** Null until the attempt was measured. */
export function countsOf(row: Selectable<AttemptTable>): ChangeCounts | null {
  if (row.files_added === null) return null
  return {
    added: row.files_added,
    modified: row.files_modified ?? 0,
    deleted: row.files_deleted ?? 0,
    renamed: row.files_renamed ?? 0,
  }
}

export function scopeMatchesOf(row: Selectable<AttemptTable>): boolean | null {
  return row.scope_matches === null ? null : row.scope_matches === 1
}
