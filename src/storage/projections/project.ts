import { beforeFirst } from '../rows/fact-row.ts'
import type { Of, Projecting } from './projecting.ts'

export async function applyProjectCreated(
  { db, at }: Projecting,
  { id, root }: Of<'project.created'>,
): Promise<void> {
  await db.insertInto('project').values({ id, seq: 0, head: beforeFirst, created_at: at }).execute()
  await seen({ db, projectId: id, at }, root)
}

/** Remembers a folder of the project. In a shared file a folder belongs to the project that was there last. */
export async function seen(
  { db, projectId, at }: Pick<Projecting, 'db' | 'projectId' | 'at'>,
  root: string,
): Promise<void> {
  await db
    .insertInto('project_root')
    .values({ path: root, project_id: projectId, seen_at: at })
    .onConflict((conflict) => conflict.column('path').doUpdateSet({ project_id: projectId, seen_at: at }))
    .execute()
}
