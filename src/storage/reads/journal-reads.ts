import type { JournalReads } from '../../ports/reads/journal-reads.ts'
import { factOf } from '../rows/fact-row.ts'
import { verifyChain } from './journal-chain.ts'
import type { ReadScope } from './scope.ts'

export function journalReads(scope: ReadScope): JournalReads {
  const { db, projectId } = scope
  const facts = () => db.selectFrom('fact').selectAll().where('project_id', '=', projectId)
  return {
    async since(after, limit) {
      const rows = await facts().where('seq', '>', after).orderBy('seq').limit(limit).execute()
      return rows.map(factOf)
    },
    async latest({ before, limit }) {
      const rows = await facts()
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map(factOf)
    },
    async head() {
      const row = await db.selectFrom('project').select('seq').where('id', '=', projectId).executeTakeFirst()
      return row?.seq ?? 0
    },
    async seqBefore(time) {
      const row = await db
        .selectFrom('fact')
        .select('seq')
        .where('project_id', '=', projectId)
        .where('at', '<', time)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row?.seq ?? 0
    },
    async timeAfter(seq) {
      const row = await db
        .selectFrom('fact')
        .select(({ fn }) => fn.min('at').as('at'))
        .where('project_id', '=', projectId)
        .where('seq', '>', seq)
        .executeTakeFirst()
      return row?.at ?? null
    },
    verify: () => verifyChain(scope),
  }
}
