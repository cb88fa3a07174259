import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { SettingName } from '../../gate/domain/run.ts'
import { recountOpenItems } from '../../inbox/tables/item.ts'
import { prepareQuery } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'

export interface SettingTable {
  project_id: string
  name: string
  value: string
}

export async function applySettingChanged(
  projecting: ProjectionContext,
  { name, value }: ProjectEventOf<'setting.changed'>,
): Promise<void> {
  const { db, projectId } = projecting
  await db
    .insertInto('setting')
    .values({ project_id: projectId, name, value })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ value }))
    .execute()
  if (name === 'inbox_gate' || name === 'completion') await recountOpenItems(projecting)
}

const settings = prepareQuery((db, projectId: string) =>
  db.selectFrom('setting').select(['name', 'value']).where('project_id', '=', projectId).limit(100),
)

export async function settingsOf({ db, projectId }: ReadScope): Promise<ReadonlyMap<SettingName, string>> {
  const rows = await settings(db, projectId)
  return new Map(rows.map(({ name, value }) => [name as SettingName, value])) // as it was written
}
