import type { MissionId } from '../../domain/id.ts'
import type { MissionReads } from '../../ports/reads/mission-reads.ts'
import { missionOf, phaseOf } from '../rows/mission-row.ts'
import { idsLike } from './ids-like.ts'
import { missionLines, missionTree } from './mission-files.ts'
import { listMissions } from './mission-list.ts'
import { missionNow, missionsListed, standingPhases } from './mission-now.ts'
import { missionTotals, phaseTallies } from './mission-tallies.ts'
import type { ReadScope } from './scope.ts'

export function missionReads(scope: ReadScope): MissionReads {
  const { db, projectId } = scope
  const phases = () => db.selectFrom('phase').selectAll().where('project_id', '=', projectId)
  return {
    async find(id) {
      const row = await db
        .selectFrom('mission')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? missionOf(row) : null
    },
    async named(ids) {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('mission')
        .select(['id', 'name'])
        .where('project_id', '=', projectId)
        .where('id', 'in', ids.slice(0, 200))
        .execute()
      return new Map(rows.map(({ id, name }) => [id as MissionId, name])) // a brand
    },
    async treesOf(missionId) {
      const rows = await db
        .selectFrom('attempt')
        .select('tree_top')
        .where('project_id', '=', projectId)
        .where('mission_id', '=', missionId)
        .groupBy('tree_top')
        .orderBy(({ fn }) => fn.min('seq'))
        .limit(50)
        .execute()
      return rows.map(({ tree_top }) => tree_top)
    },
    tree: (missionId, top) => missionTree(scope, missionId, top),
    lines: (missionId) => missionLines(scope, missionId),
    list: (request) => listMissions(scope, request),
    listed: (missions) => missionsListed(scope, missions),
    async phases(missionId) {
      return standingPhases(scope, [missionId], 1000)
    },
    async phase(missionId, number) {
      const row = await phases()
        .where('mission_id', '=', missionId)
        .where('number', '=', number)
        .executeTakeFirst()
      return row ? phaseOf(row) : null
    },
    async phaseById(id) {
      const row = await phases().where('id', '=', id).executeTakeFirst()
      return row ? phaseOf(row) : null
    },
    tallies: (missionId) => phaseTallies(scope, missionId),
    now: (missionId) => missionNow(scope, missionId),
    totals: (missionId) => missionTotals(scope, missionId),
    idsLike: (prefix, limit) => idsLike(scope, 'mission', { prefix, limit }),
  }
}
