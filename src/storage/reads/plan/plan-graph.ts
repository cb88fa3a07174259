import { sql } from 'kysely'
import type { MilestoneId, MissionId, PhaseId, TaskId } from '../../../domain/id.ts'
import type { PlanSpan } from '../../../domain/plan/plan.ts'
import type { GraphTask } from '../../../ports/reads/plan-reads.ts'
import { isUnsettled } from '../../rows/standing.ts'
import type { TaskTable } from '../../schema/task-tables.ts'
import type { ReadScope } from '../scope.ts'
import { ofOpenMission, ofOwner } from './plan-conditions.ts'
import { listOrder } from './plan-parts.ts'
import { dependenciesOf } from './planned-tasks.ts'

type Columns = Pick<
  TaskTable,
  | 'id'
  | 'name'
  | 'phase_id'
  | 'milestone_id'
  | 'parent_task_id'
  | 'role'
  | 'status'
  | 'resolution'
  | 'open_holds'
  | 'claim_expires_at'
  | 'sort_order'
  | 'seq'
  | 'mission_id'
  | 'assignee'
>

/** A claim that expired holds nothing: its task is to do. */
export async function planGraph(
  scope: ReadScope,
  owner: PlanSpan | undefined,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<readonly GraphTask[]> {
  const owned =
    owner === undefined
      ? sql``
      : sql`and ${owner === 'open' ? ofOpenMission(scope.projectId) : ofOwner(owner)}`
  const { rows } = await sql<Columns>`
    select id, name, phase_id, milestone_id, parent_task_id, role, status, resolution, open_holds, claim_expires_at, sort_order, seq, mission_id, assignee
    from task where project_id = ${scope.projectId} ${owned}
    order by ${listOrder} limit ${limit}`.execute(scope.db)
  const dependencies = await dependenciesOf(
    scope,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => graphTask(row, dependencies.get(row.id) ?? [], now))
}

function graphTask(row: Columns, dependsOn: readonly TaskId[], now: number): GraphTask {
  const expired = row.claim_expires_at !== null && row.claim_expires_at <= now
  const status = expired ? 'to_do' : (row.status as GraphTask['status']) // as it was written
  return {
    id: row.id as TaskId, // a brand
    name: row.name,
    phaseId: row.phase_id as PhaseId | null, // a brand
    milestoneId: row.milestone_id as MilestoneId | null, // a brand
    parentTaskId: row.parent_task_id as TaskId | null, // a brand
    role: row.role,
    assignee: row.assignee,
    status,
    dropped: row.resolution === 'dropped',
    unsettled: isUnsettled(row),
    held: status === 'in_progress',
    sortOrder: row.sort_order,
    seq: row.seq,
    missionId: row.mission_id as MissionId | null, // a brand
    dependsOn,
  }
}
