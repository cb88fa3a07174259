import type { ChainCheck } from '../../ports/reads/journal-reads.ts'
import { beforeFirst, factHash } from '../rows/fact-row.ts'
import type { FactTable } from '../schema/journal-tables.ts'
import { breath } from '../sqlite/breath.ts'
import type { ReadScope } from './scope.ts'

const batch = 500

/** Hashes every fact again, a batch at a time; a fact that is missing, also at the end, breaks the chain too. */
export async function verifyChain(scope: ReadScope): Promise<ChainCheck> {
  const { seq, hash, isBroken } = await walkChain(scope)
  const project = await scope.db
    .selectFrom('project')
    .select(['seq', 'head'])
    .where('id', '=', scope.projectId)
    .executeTakeFirst()
  const head = project ?? { seq: 0, head: beforeFirst }
  return { facts: seq, brokenAt: isBroken || head.seq !== seq || head.head !== hash ? seq + 1 : null }
}

/** Follows the chain from the first fact to the one of `last`, and answers the last that follows. */
export async function walkChain(
  scope: ReadScope,
  last = Number.MAX_SAFE_INTEGER,
): Promise<{ readonly seq: number; readonly hash: string; readonly isBroken: boolean }> {
  const pause = breath()
  let at: { readonly seq: number; readonly hash: string } = { seq: 0, hash: beforeFirst }
  while (at.seq < last) {
    const rows = await factsAfter(scope, at.seq, Math.min(batch, last - at.seq))
    for (const row of rows) {
      if (!follows(row, at)) return { ...at, isBroken: true }
      at = { seq: row.seq, hash: row.hash }
      const waits = pause()
      if (waits) await waits
    }
    if (rows.length < batch) break
  }
  return { ...at, isBroken: false }
}

/** Whether a fact is the one after `last`, unchanged. */
export function follows(row: FactTable, last: { readonly seq: number; readonly hash: string }): boolean {
  return row.seq === last.seq + 1 && isDelimited(row) && row.hash === factHash(last.hash, row)
}

const seenActors = new Set<string>()
const mostSeenActors = 1000

// Text that moved from one column into the next would leave the hashed text as it was. It cannot have moved where the
// numbers are numbers and the actor is one JSON value: every other part is quoted, or ends with the text.
function isDelimited({ at, version, actor }: FactTable): boolean {
  if (typeof at !== 'number' || typeof version !== 'number') return false
  if (seenActors.has(actor)) return true
  try {
    JSON.parse(actor)
  } catch {
    return false
  }
  if (seenActors.size < mostSeenActors) seenActors.add(actor)
  return true
}

function factsAfter({ db, projectId }: ReadScope, seq: number, limit: number): Promise<FactTable[]> {
  return db
    .selectFrom('fact')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute()
}
