import type { Insertable, Selectable } from 'kysely'
import type { MilestoneId, MissionId, PhaseId, TaskId } from '../../domain/id.ts'
import type { Task } from '../../domain/track/task.ts'
import type { TaskTable } from '../schema/task-tables.ts'
import { parsed } from './json.ts'
import type { RowKey } from './row-key.ts'

export function taskRow({ projectId, seq }: RowKey, task: Task): Insertable<TaskTable> {
  return {
    project_id: projectId,
    id: task.id,
    seq,
    mission_id: task.missionId,
    phase_id: task.phaseId,
    milestone_id: task.milestoneId,
    parent_task_id: task.parentTaskId,
    name: task.name,
    goal: task.goal,
    step: task.step,
    role: task.role,
    areas: JSON.stringify(task.areas),
    status: task.status,
    resolution: task.resolution,
    creator: task.creator,
    last_attempt_id: null,
    claim_agent: null,
    claim_actor: null,
    claim_token: null,
    claimed_at: null,
    claim_expires_at: null,
    created_at: task.createdAt,
    updated_at: task.updatedAt,
  }
}

export function taskOf(row: Selectable<TaskTable>): Task {
  return {
    id: row.id as TaskId, // a brand
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    milestoneId: row.milestone_id as MilestoneId | null, // a brand
    parentTaskId: row.parent_task_id as TaskId | null, // a brand
    name: row.name,
    goal: row.goal,
    step: row.step,
    role: row.role,
    areas: parsed(row.areas),
    status: row.status as Task['status'], // as it was written
    resolution: row.resolution as Task['resolution'], // as it was written
    creator: row.creator,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
