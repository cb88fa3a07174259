import { sql } from 'kysely'
import type { HoldReads } from '../../ports/reads/hold-reads.ts'
import { holdOf } from '../rows/hold-row.ts'
import { listHolds } from './hold-list.ts'
import { idsLike } from './ids-like.ts'
import { prepared } from './prepared.ts'
import type { ReadScope } from './scope.ts'

const openOfRun = prepared((db, projectId: string, runId: string) =>
  db
    .selectFrom('hold')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .where('status', '=', 'open')
    .limit(sql.lit(100)),
)

export function holdReads(scope: ReadScope): HoldReads {
  const { db, projectId } = scope
  const holds = () => db.selectFrom('hold').selectAll().where('project_id', '=', projectId)
  return {
    async find(id) {
      const row = await holds().where('id', '=', id).executeTakeFirst()
      return row ? holdOf(row) : null
    },
    list: (filter, request) => listHolds(scope, filter, request),
    async ofIssue(issueId) {
      const row = await holds()
        .where('issue_id', '=', issueId)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? holdOf(row) : null
    },
    async ofAttempt(attemptId) {
      const rows = await holds().where('attempt_id', '=', attemptId).orderBy('seq').limit(100).execute()
      return rows.map(holdOf)
    },
    async ofRun(runId) {
      const rows = await openOfRun(db, projectId, runId)
      return rows.toSorted((one, other) => one.seq - other.seq).map(holdOf)
    },
    async answeredOfRun(runId, limit) {
      const rows = await holds()
        .where('run_id', '=', runId)
        .where('status', '<>', 'open')
        .where('answer', 'is not', null)
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map(holdOf)
    },
    async openCommand(hash) {
      const row = await holds()
        .where('request_hash', '=', hash)
        .where('status', '=', 'open')
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst()
      return row ? holdOf(row) : null
    },
    idsLike: (prefix, limit) => idsLike(scope, 'hold', { prefix, limit }),
  }
}
