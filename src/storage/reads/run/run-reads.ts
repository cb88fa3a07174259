import type { RunReads } from '../../../ports/reads/run-reads.ts'
import { repeatOf, runEventOf } from '../../rows/run-event-row.ts'
import { approvalOf, triedText } from '../../rows/run-evidence-rows.ts'
import { runOf } from '../../rows/run-row.ts'
import { idsLike } from '../ids-like.ts'
import { prepared } from '../prepared.ts'
import type { ReadScope } from '../scope.ts'
import { commandResults } from './command-results.ts'
import { gatingRuns, lostRuns } from './gating-runs.ts'
import { keptDefinition } from './kept-definition.ts'
import { loadRun, runById } from './load-run.ts'
import { runPages } from './run-pages.ts'
import { settingsOf } from './settings.ts'
import { subjectWork } from './subject-work.ts'

// A key of before keys had owners is its name's: that of who emitted the event.
const eventsOfKey = prepared((db, projectId: string, runId: string, key: string) =>
  db
    .selectFrom('run_event')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .where('idempotency_key', '=', key),
)

export function runReads(scope: ReadScope): RunReads {
  const { db, projectId } = scope
  return {
    ...runPages(scope),
    ...commandResults(scope),
    ...subjectWork(scope),
    async find(id) {
      const [row] = await runById(db, projectId, id)
      return row ? runOf(row) : null
    },
    load: (id) => loadRun(scope, id),
    gating: (missionId) => gatingRuns(scope, missionId),
    lost: (missionId) => lostRuns(scope, missionId),
    definition: (hash) => keptDefinition(scope, hash),
    async eventAt(runId, revision) {
      const row = await db
        .selectFrom('run_event')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
        .where('revision', '=', revision)
        .executeTakeFirst()
      return row ? runEventOf(row) : null
    },
    async repeat(runId, { key, owner }) {
      const rows = await eventsOfKey(db, projectId, runId, key)
      const row =
        rows.find(({ key_owner }) => key_owner === owner) ??
        rows.find(({ key_owner, by_name }) => key_owner === null && owner.endsWith(` ${by_name}`))
      return row ? repeatOf(row) : null
    },
    async refusalsAlike(runId, { event, code, since, tried }) {
      const { total } = await db
        .selectFrom('run_refusal')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
        .where('event', '=', event)
        .where('code', '=', code)
        .where('revision', '>=', since)
        .$if(tried !== undefined, (query) => query.where('tried', 'is', triedText(tried)))
        .executeTakeFirstOrThrow()
      return total
    },
    async approvals(runId) {
      const rows = await db
        .selectFrom('run_approval')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
        .orderBy('seq')
        .limit(1000)
        .execute()
      return rows.map(approvalOf)
    },
    settings: () => settingsOf(scope),
    idsLike: (prefix, limit) => idsLike(scope, 'run', { prefix, limit }),
  }
}
