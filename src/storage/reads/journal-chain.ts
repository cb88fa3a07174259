import type { ChainCheck } from '../../ports/reads/journal-reads.ts'
import { beforeFirst, factHash } from '../rows/fact-row.ts'
import type { FactTable } from '../schema/journal-tables.ts'
import type { ReadScope } from './scope.ts'

const batch = 1000

/** Hashes every fact again, a batch at a time; a fact that is missing, also at the end, breaks the chain too. */
export async function verifyChain(scope: ReadScope): Promise<ChainCheck> {
  let last = { seq: 0, hash: beforeFirst }
  for (;;) {
    const rows = await factsAfter(scope, last.seq)
    for (const row of rows) {
      if (!follows(row, last)) return { facts: last.seq, brokenAt: last.seq + 1 }
      last = row
    }
    if (rows.length < batch) break
  }
  const project = await scope.db
    .selectFrom('project')
    .select(['seq', 'head'])
    .where('id', '=', scope.projectId)
    .executeTakeFirst()
  const head = project ?? { seq: 0, head: beforeFirst }
  if (head.seq !== last.seq || head.head !== last.hash) return { facts: last.seq, brokenAt: last.seq + 1 }
  return { facts: last.seq, brokenAt: null }
}

/** Whether a fact is the one after `last`, unchanged. */
export function follows(row: FactTable, last: { readonly seq: number; readonly hash: string }): boolean {
  return (
    row.seq === last.seq + 1 && isJson(row.actor) && isJson(row.body) && row.hash === factHash(last.hash, row)
  )
}

// Text that moved from one column into the next would leave the hashed text as it was, but no JSON in either.
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function factsAfter({ db, projectId }: ReadScope, seq: number): Promise<FactTable[]> {
  return db
    .selectFrom('fact')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(batch)
    .execute()
}
