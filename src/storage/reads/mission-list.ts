import { sql } from 'kysely'
import type { Mission } from '../../domain/track/mission.ts'
import type { MissionReads } from '../../ports/reads/mission-reads.ts'
import type { Page } from '../../ports/reads/page.ts'
import { missionOf } from '../rows/mission-row.ts'
import type { ReadScope } from './scope.ts'

type Request = Parameters<MissionReads['list']>[0]

export async function listMissions({ db, projectId }: ReadScope, request: Request): Promise<Page<Mission>> {
  const { statuses, search, before, limit } = request
  const matching = db
    .selectFrom('mission')
    .where('project_id', '=', projectId)
    .$if(statuses !== undefined, (query) => query.where('status', 'in', [...(statuses ?? [])]))
    .$if(search !== undefined, (query) => query.where(contains(search ?? '')))
  const rows = await matching
    .selectAll()
    .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  const { total } = await matching
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { items: rows.map((row) => ({ seq: row.seq, item: missionOf(row) })), total }
}

function contains(search: string) {
  const pattern = `%${search.toLowerCase().replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`
  return sql<boolean>`(
    lower(name) like ${pattern} escape '\\'
    or lower(coalesce(objective, '')) like ${pattern} escape '\\'
    or lower(coalesce(description, '')) like ${pattern} escape '\\'
    or id = ${search}
  )`
}
