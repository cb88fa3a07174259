import type { Kysely } from 'kysely'
import { Failure } from '../../domain/failure.ts'
import type { Idempotency } from '../../ports/store.ts'
import { parsed } from '../rows/json.ts'
import type { Tables } from '../schema/tables.ts'

/** The answer stored for a key. Fails when the key came with another input. */
export async function storedAnswer(
  db: Kysely<Tables>,
  projectId: string,
  idempotency: Idempotency,
): Promise<{ readonly answer: unknown } | null> {
  const row = await db
    .selectFrom('command')
    .select(['operation', 'input_hash', 'answer'])
    .where('project_id', '=', projectId)
    .where('idempotency_key', '=', idempotency.key)
    .executeTakeFirst()
  if (!row) return null
  if (row.operation === idempotency.operation && row.input_hash === idempotency.inputHash) {
    return { answer: parsed(row.answer) }
  }
  throw new Failure(
    'IDEMPOTENCY_KEY_REUSED',
    row.operation === idempotency.operation
      ? `The idempotency key "${idempotency.key}" was used for ${row.operation} with another input.`
      : `The idempotency key "${idempotency.key}" was used for ${row.operation}, not for ${idempotency.operation}.`,
    { hint: 'Give every new command a key of its own; repeat a key only with the very same input.' },
  )
}

export async function storeAnswer(
  db: Kysely<Tables>,
  idempotency: Idempotency,
  made: {
    readonly projectId: string
    readonly answer: unknown
    readonly seq: number
    readonly at: number
  },
): Promise<void> {
  await db
    .insertInto('command')
    .values({
      project_id: made.projectId,
      idempotency_key: idempotency.key,
      operation: idempotency.operation,
      input_hash: idempotency.inputHash,
      answer: JSON.stringify(made.answer ?? null),
      seq: made.seq,
      created_at: made.at,
    })
    .execute()
}
