import type { ProjectionContext } from '../../store/tables/tables.ts'

export interface CommandAnswerTable {
  project_id: string
  hash: string
  /** The machine that an approval is for, empty for the record's own; `everyMachine` for any other answer. */
  machine_id: string
  seq: number
  /** Null: the answer was revoked. */
  item_id: string | null
}

/** A refusal or a revocation counts everywhere. */
export const everyMachine = '*'

/** A person answered a question about a command, or revoked the answer: `itemId` is null. */
export async function applyCommandAnswer(
  { db, projectId, seq }: ProjectionContext,
  hash: string,
  { machine, itemId }: { readonly machine: string; readonly itemId: string | null },
): Promise<void> {
  const answer = { seq, item_id: itemId }
  await db
    .insertInto('command_answer')
    .values({ project_id: projectId, hash, machine_id: machine, ...answer })
    .onConflict((conflict) => conflict.columns(['project_id', 'hash', 'machine_id']).doUpdateSet(answer))
    .execute()
}
