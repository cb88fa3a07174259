import type { Insertable, Selectable } from 'kysely'
import type { MilestoneId, PhaseId } from '../../domain/id.ts'
import type { Milestone } from '../../domain/plan/plan.ts'
import type { MilestoneTable } from '../schema/mission-tables.ts'
import type { RowKey } from './row-key.ts'

export function milestoneRow({ projectId, seq }: RowKey, milestone: Milestone): Insertable<MilestoneTable> {
  return {
    project_id: projectId,
    id: milestone.id,
    seq,
    phase_id: milestone.phaseId,
    name: milestone.name,
    criterion: milestone.criterion,
    reached: milestone.reached ? 1 : 0,
    created_at: milestone.createdAt,
  }
}

export function milestoneOf(row: Selectable<MilestoneTable>): Milestone {
  return {
    id: row.id as MilestoneId, // a brand
    phaseId: row.phase_id as PhaseId, // a brand
    name: row.name,
    criterion: row.criterion,
    reached: row.reached === 1,
    createdAt: row.created_at,
  }
}
