import type { Insertable, Selectable } from 'kysely'
import type { MissionId, PhaseId } from '../../domain/id.ts'
import type { Mission, Phase } from '../../domain/track/mission.ts'
import type { MissionTable, PhaseTable } from '../schema/mission-tables.ts'
import { parsed } from './json.ts'
import type { RowKey } from './row-key.ts'

export function missionRow({ projectId, seq }: RowKey, mission: Mission): Insertable<MissionTable> {
  return {
    project_id: projectId,
    id: mission.id,
    seq,
    kind: mission.kind,
    name: mission.name,
    objective: mission.objective,
    description: mission.description,
    profile: mission.profile,
    total_phases: mission.totalPhases,
    scope: mission.scope,
    constraints: mission.constraints,
    status: mission.status,
    summary: mission.summary,
    achievements: JSON.stringify(mission.achievements),
    limitations: JSON.stringify(mission.limitations),
    tasks_attempted: 0,
    files_changed: 0,
    tokens_input: 0,
    tokens_output: 0,
    created_at: mission.createdAt,
    completed_at: mission.completedAt,
  }
}

export function missionOf(row: Selectable<MissionTable>): Mission {
  return {
    id: row.id as MissionId, // a brand
    kind: row.kind as Mission['kind'], // as it was written
    name: row.name,
    objective: row.objective,
    description: row.description,
    profile: row.profile as Mission['profile'], // as it was written
    totalPhases: row.total_phases,
    scope: row.scope,
    constraints: row.constraints,
    status: row.status as Mission['status'], // as it was written
    summary: row.summary,
    achievements: parsed(row.achievements),
    limitations: parsed(row.limitations),
    createdAt: row.created_at,
    completedAt: row.completed_at,
  }
}

export function phaseRow({ projectId, seq }: RowKey, phase: Phase): Insertable<PhaseTable> {
  return {
    project_id: projectId,
    id: phase.id,
    seq,
    mission_id: phase.missionId,
    number: phase.number,
    name: phase.name,
    status: phase.status,
    sort_order: phase.sortOrder,
    first_start: null,
    last_end: null,
    created_at: phase.createdAt,
    completed_at: phase.completedAt,
  }
}

export function phaseOf(row: Selectable<PhaseTable>): Phase {
  return {
    id: row.id as PhaseId, // a brand
    missionId: row.mission_id as MissionId | null, // a brand
    number: row.number,
    name: row.name,
    status: row.status as Phase['status'], // as it was written
    sortOrder: row.sort_order,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  }
}
