import { sql } from 'kysely'
import type { PlanReads } from '../../../ports/reads/plan-reads.ts'
import { milestoneOf } from '../../rows/milestone-row.ts'
import { phaseOf } from '../../rows/mission-row.ts'
import type { ReadScope } from '../scope.ts'
import { ofOwner, phaseOfOpenMission } from './plan-conditions.ts'

type PlaceReads = Pick<PlanReads, 'phases' | 'phase' | 'milestones' | 'milestone'>

const most = 1000

/** The project's own plan has none, and comes first. */
const missionSeq = sql`(select seq from mission
  where mission.project_id = phase.project_id and mission.id = phase.mission_id)`

export function planPlaceReads({ db, projectId }: ReadScope): PlaceReads {
  const phases = () => db.selectFrom('phase').selectAll().where('project_id', '=', projectId)
  return {
    async phases(owner) {
      const rows = await phases()
        .where(sql<boolean>`${owner === 'open' ? phaseOfOpenMission(projectId) : ofOwner(owner)}`)
        .orderBy(missionSeq)
        .orderBy(sql`sort_order is null`)
        .orderBy('sort_order')
        .orderBy(sql`coalesce(number, 0)`)
        .orderBy('seq')
        .limit(most)
        .execute()
      return rows.map(phaseOf)
    },
    async phase(id) {
      const row = await phases().where('id', '=', id).executeTakeFirst()
      return row ? phaseOf(row) : null
    },
    async milestones({ owner, phaseId }) {
      const rows = await db
        .selectFrom('milestone')
        .innerJoin('phase', (join) =>
          join
            .onRef('phase.project_id', '=', 'milestone.project_id')
            .onRef('phase.id', '=', 'milestone.phase_id'),
        )
        .selectAll('milestone')
        .where('milestone.project_id', '=', projectId)
        .$if(owner !== undefined, (query) =>
          query.where(
            sql<boolean>`${owner === 'open' ? phaseOfOpenMission(projectId) : ofOwner(owner ?? null)}`,
          ),
        )
        .$if(phaseId !== undefined, (query) => query.where('milestone.phase_id', '=', phaseId ?? ''))
        .orderBy(missionSeq)
        .orderBy(sql`phase.sort_order is null`)
        .orderBy('phase.sort_order')
        .orderBy(sql`coalesce(phase.number, 0)`)
        .orderBy('phase.seq')
        .orderBy('milestone.seq')
        .limit(most)
        .execute()
      return rows.map(milestoneOf)
    },
    async milestone(id) {
      const row = await db
        .selectFrom('milestone')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? milestoneOf(row) : null
    },
  }
}
