import type { Kysely } from 'kysely'
import { Failure } from '../../kernel/failure.ts'
import type { Idempotency, KeyReads, StoredAnswer } from '../ports/store.ts'
import { parseColumn } from '../tables/query.ts'
import type { ReadScope, Tables } from '../tables/tables.ts'

/** The answer of a call with an idempotency key. */
export interface IdempotencyKeyTable {
  project_id: string
  /** The principal that sent the key. */
  owner: string
  /** Keys are per run; empty for project-wide keys. */
  run_id: string
  key: string
  connection: string | null
  operation: string
  input_hash: string
  answer: string
  seq: number
  created_at: number
}

const ofProject = ''

/** The answer stored for a key. Fails when the input differs. */
export async function storedAnswer(
  db: Kysely<Tables>,
  projectId: string,
  idempotency: Idempotency,
): Promise<StoredAnswer | null> {
  const row = await db
    .selectFrom('idempotency_key')
    .select(['connection', 'operation', 'input_hash', 'answer'])
    .where('project_id', '=', projectId)
    .where('owner', '=', idempotency.owner)
    .where('run_id', '=', idempotency.run ?? ofProject)
    .where('key', '=', idempotency.key)
    .executeTakeFirst()
  if (!row) return null
  const isOwn = row.connection === idempotency.connection
  if (!isOwn && hasClaim(row.answer)) {
    throw keyReusedFailure(idempotency, {
      reason: 'claim_of_other_connection',
      how: 'was used by another connection for a claim, whose token is not returned again',
    })
  }
  if (row.operation === idempotency.operation && row.input_hash === idempotency.inputHash) {
    return { answer: parseColumn(row.answer) }
  }
  throw keyReusedFailure(
    idempotency,
    row.operation === idempotency.operation
      ? { reason: 'idempotency_key_reused', how: `was used for ${row.operation} with another input` }
      : {
          reason: 'idempotency_key_of_other_operation',
          how: `was used for ${row.operation}, not for ${idempotency.operation}`,
        },
  )
}

function keyReusedFailure(
  { key, run }: Idempotency,
  { reason, how }: { readonly reason: string; readonly how: string },
): Failure {
  return new Failure(
    'IDEMPOTENCY_KEY_REUSED',
    `The idempotency key "${key}"${run === undefined ? '' : ` of run ${run}`} ${how}.`,
    {
      reason,
      hint: 'Use a new key for each new command. Repeat a key only with the same input.',
    },
  )
}

/** Whether an answer contains a claim's token, which only its holder may see. */
function hasClaim(answer: string): boolean {
  return /"claim":\{[^{}]*"token":|"claim_token":/.test(answer)
}

/** An answer for an export, with claim tokens blanked. */
export function withoutClaimTokens(answer: string): string {
  if (!hasClaim(answer)) return answer
  return answer.replace(/("claim":\{[^{}]*"token":|"claim_token":)"[^"]*"/g, '$1""')
}

export async function storeAnswer(
  db: Kysely<Tables>,
  idempotency: Idempotency,
  stored: {
    readonly projectId: string
    readonly answer: unknown
    readonly seq: number
    readonly at: number
  },
): Promise<void> {
  await db
    .insertInto('idempotency_key')
    .values({
      project_id: stored.projectId,
      owner: idempotency.owner,
      run_id: idempotency.run ?? ofProject,
      key: idempotency.key,
      connection: idempotency.connection,
      operation: idempotency.operation,
      input_hash: idempotency.inputHash,
      answer: JSON.stringify(stored.answer ?? null),
      seq: stored.seq,
      created_at: stored.at,
    })
    .execute()
}

export function keyReads({ db, projectId }: ReadScope): KeyReads {
  return { answerOf: (idempotency) => storedAnswer(db, projectId, idempotency) }
}
