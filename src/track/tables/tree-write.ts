import type { Selectable } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { displayName } from '../../kernel/actor.ts'
import type { MissionId, SnapshotId, TaskId } from '../../kernel/id.ts'
import { cachedQuery, parseColumn, parseColumnOrNull, splitIntoBatches } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import { type SnapshotLocation, treeOf } from '../domain/task.ts'
import type { TreeWrite } from '../domain/tree-write.ts'
import type { RecordedUndo, TreeWriteReads } from '../ports/tree-write-reads.ts'
import { putMissionChanges } from './mission-change.ts'

export interface TreeWriteTable {
  project_id: string
  id: string
  seq: number
  written_at: number
  tree_top: string
  cause: string
  subject: string
  author: string
  task_id: string | null
  mission_id: string | null
  /** JSON, as the snapshot. */
  files: string
  snapshot: string
  end_snapshot: string | null
}

export async function applyTreeWritten(
  projecting: ProjectionContext,
  { write, missionChanges = [] }: ProjectEventOf<'tree.written'>,
): Promise<void> {
  const { db, projectId, seq, actor } = projecting
  const { id, writtenAt, cause, subject, taskId, missionId, files, before, after } = write
  await db
    .insertInto('tree_write')
    .values({
      project_id: projectId,
      id,
      seq,
      written_at: writtenAt,
      tree_top: treeOf(before),
      cause,
      subject,
      author: displayName({ actor }),
      task_id: taskId,
      mission_id: missionId,
      files: JSON.stringify(files),
      snapshot: JSON.stringify(before),
      end_snapshot: after && JSON.stringify(after),
    })
    .execute()
  if (missionId !== null && missionChanges.length > 0)
    await putMissionChanges(projecting, missionId, treeOf(before), missionChanges)
}

export function treeWriteReads({ db, projectId }: ReadScope): TreeWriteReads {
  const all = db.selectFrom('tree_write').selectAll().where('project_id', '=', projectId)
  // Nobody restored it, and the task was not started again since.
  const standing = all
    .where('cause', '=', 'undo')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('attempt')
            .select('attempt.id')
            .whereRef('attempt.project_id', '=', 'tree_write.project_id')
            .whereRef('attempt.task_id', '=', 'tree_write.subject')
            .whereRef('attempt.seq', '>', 'tree_write.seq'),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('tree_write as later')
            .select('later.id')
            .whereRef('later.project_id', '=', 'tree_write.project_id')
            .whereRef('later.subject', '=', 'tree_write.id'),
        ),
      ),
    )
  return {
    async byId(id) {
      const row = await all.where('id', '=', id).executeTakeFirst()
      return row === undefined ? null : writeOf(row)
    },
    since: cachedQuery(async (time: number, tree?: string) => {
      const rows = await all
        .where('written_at', '>=', time)
        .$if(tree !== undefined, (query) => query.where('tree_top', '=', tree ?? ''))
        .orderBy('written_at', 'desc')
        .orderBy('seq', 'desc')
        .limit(maxWrites)
        .execute()
      return rows.map(writeOf)
    }),
    async ofTask(id) {
      const rows = await all.where('task_id', '=', id).orderBy('seq', 'desc').limit(maxOfTask).execute()
      return rows.map((row) => {
        const { files, ...write } = writeOf(row)
        return { ...write, author: row.author, files: files.length }
      })
    },
    async undone(ids) {
      const found = new Map<string, RecordedUndo>()
      for (const batch of splitIntoBatches([...new Set(ids)])) {
        const rows = await standing.where('subject', 'in', batch).orderBy('seq').execute()
        for (const { id, subject, author, written_at: undoneAt } of rows)
          found.set(subject, { id: id as SnapshotId, author, undoneAt }) // a brand
      }
      return found
    },
    async undoneTasks() {
      const rows = await standing.clearSelect().select('task_id').distinct().execute()
      return rows.flatMap(({ task_id: id }) => (id === null ? [] : [id as TaskId])) // a brand
    },
  }
}

const maxWrites = 1_000
const maxOfTask = 20

function writeOf(row: Selectable<TreeWriteTable>): TreeWrite {
  return {
    id: row.id as SnapshotId, // a brand, as the next ones
    writtenAt: row.written_at,
    cause: row.cause as TreeWrite['cause'],
    subject: row.subject,
    taskId: row.task_id as TaskId | null,
    missionId: row.mission_id as MissionId | null,
    files: parseColumn<string[]>(row.files),
    before: parseColumn<SnapshotLocation>(row.snapshot),
    after: parseColumnOrNull<SnapshotLocation>(row.end_snapshot),
  }
}

/** The snapshots before and after files were written, as JSON. Unlimited: an unlisted one may be deleted. */
export async function snapshotsBeforeWrites(
  { db, projectId }: ReadScope,
  since: number,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('tree_write')
    .select(['snapshot', 'end_snapshot'])
    .where('project_id', '=', projectId)
    .where('written_at', '>=', since)
    .execute()
  return rows.flatMap(({ snapshot, end_snapshot: after }) =>
    after === null ? [snapshot] : [snapshot, after],
  )
}
