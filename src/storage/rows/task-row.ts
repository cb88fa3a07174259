import type { Insertable, Selectable } from 'kysely'
import type { MilestoneId, MissionId, PhaseId, TaskId } from '../../domain/id.ts'
import type { Task } from '../../domain/track/task.ts'
import type { TaskTable } from '../schema/task-tables.ts'
import { unclaimed } from './claim-row.ts'
import { parsed } from './json.ts'
import type { RowKey } from './row-key.ts'
import { standingOf } from './standing.ts'
import { ownOrder, type placeByPhase } from './task-order.ts'

/** A task as it is planned: it depends on nothing yet, and nothing on it. */
export function taskRow(
  { projectId, seq }: RowKey,
  task: Task,
  place: ReturnType<typeof placeByPhase>,
): Insertable<TaskTable> {
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
    assignee: task.assignee ?? null,
    areas: JSON.stringify(task.areas),
    status: task.status,
    resolution: task.resolution,
    sort_order: task.sortOrder,
    creator: task.creator,
    last_attempt_id: null,
    ...unclaimed,
    open_holds: 0,
    open_dependencies: 0,
    standing: standingOf(task.status, 0),
    height: task.status === 'done' ? 0 : 1,
    ...place,
    order_own: ownOrder(task.sortOrder),
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
    ...(row.assignee !== null && { assignee: row.assignee }),
    areas: parsed(row.areas),
    status: row.status as Task['status'], // as it was written
    resolution: row.resolution as Task['resolution'], // as it was written
    sortOrder: row.sort_order,
    creator: row.creator,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
