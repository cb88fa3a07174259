import { sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { inboxItemOf } from '../../inbox/tables/item.ts'
import { parseColumn, prepareQuery } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import type { FileLoss } from '../domain/losses.ts'
import type { FileLossReads } from '../ports/file-loss-reads.ts'

export interface FileLossTable {
  project_id: string
  item_id: string
  seq: number
  until: number
  task_id: string | null
  /** JSON. */
  body: string
}

export async function applyFilesLost(
  { db, projectId, seq }: ProjectionContext,
  { loss }: ProjectEventOf<'files.lost'>,
): Promise<void> {
  const { itemId, until, taskId } = loss
  await db
    .insertInto('file_loss')
    .values({
      project_id: projectId,
      item_id: itemId,
      seq,
      until,
      task_id: taskId,
      body: JSON.stringify(loss),
    })
    .execute()
}

const openLosses = prepareQuery((db, projectId: string) =>
  db
    .selectFrom('inbox_item')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('status', '=', 'open')
    .where('kind', '=', 'loss')
    .orderBy('seq', 'desc')
    .limit(sql.lit(50)),
)

export function fileLossReads({ db, projectId }: ReadScope): FileLossReads {
  const all = db.selectFrom('file_loss').select('body').where('project_id', '=', projectId)
  return {
    async byItem(id) {
      const row = await all.where('item_id', '=', id).executeTakeFirst()
      return row === undefined ? null : parseColumn<FileLoss>(row.body)
    },
    async open() {
      return (await openLosses(db, projectId)).map(inboxItemOf)
    },
  }
}
