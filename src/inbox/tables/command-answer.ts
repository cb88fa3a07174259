import type { ProjectionContext } from '../../store/tables/tables.ts'

export interface CommandAnswerTable {
  project_id: string
  hash: string
  seq: number
  /** Null: the answer was revoked. */
  item_id: string | null
}

/** A person answered a question about a command, or revoked the answer: `itemId` is null. */
export async function applyCommandAnswer(
  { db, projectId, seq }: ProjectionContext,
  hash: string,
  itemId: string | null,
): Promise<void> {
  const answer = { seq, item_id: itemId }
  await db
    .insertInto('command_answer')
    .values({ project_id: projectId, hash, ...answer })
    .onConflict((conflict) => conflict.columns(['project_id', 'hash']).doUpdateSet(answer))
    .execute()
}
