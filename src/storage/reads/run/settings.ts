import type { SettingName } from '../../../domain/gate/happening.ts'
import type { ReadScope } from '../scope.ts'

export async function settingsOf({ db, projectId }: ReadScope): Promise<ReadonlyMap<SettingName, string>> {
  const rows = await db
    .selectFrom('setting')
    .select(['name', 'value'])
    .where('project_id', '=', projectId)
    .limit(100)
    .execute()
  return new Map(rows.map(({ name, value }) => [name as SettingName, value])) // as it was written
}
