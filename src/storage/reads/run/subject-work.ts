import type { Evidence } from '../../../domain/fact.ts'
import type { AttemptId } from '../../../domain/id.ts'
import type { ReportedChange } from '../../../domain/track/evidence.ts'
import type { AttemptChanges, RunReads } from '../../../ports/reads/run-reads.ts'
import { attemptOf } from '../../rows/attempt-row.ts'
import { parsed } from '../../rows/json.ts'
import type { ReadScope } from '../scope.ts'

const mostChanges = 20_000

/** The work on what a run is about. */
export function subjectWork({ db, projectId }: ReadScope): Pick<RunReads, 'attemptsOf' | 'changesOf'> {
  return {
    async attemptsOf({ missionId, taskId }) {
      if (missionId === null && taskId === null) return []
      const rows = await db
        .selectFrom('attempt')
        .selectAll()
        .where('project_id', '=', projectId)
        .$if(taskId !== null, (query) => query.where('task_id', '=', taskId ?? ''))
        .$if(missionId !== null, (query) => query.where('mission_id', '=', missionId ?? ''))
        .orderBy('seq')
        .limit(1000)
        .execute()
      return rows.map(attemptOf)
    },
    async changesOf(attemptIds) {
      if (attemptIds.length === 0) return []
      const ends = await db
        .selectFrom('attempt_end')
        .select(['attempt_id', 'evidence'])
        .where('project_id', '=', projectId)
        .where('attempt_id', 'in', [...attemptIds])
        .execute()
      const rows = await db
        .selectFrom('attempt_change')
        .select(['attempt_id', 'body'])
        .where('project_id', '=', projectId)
        .where('attempt_id', 'in', [...attemptIds])
        .orderBy('attempt_id')
        .orderBy('position')
        .limit(mostChanges + 1)
        .execute()
      const isWhole = rows.length <= mostChanges
      const changes = Map.groupBy(rows.slice(0, mostChanges), ({ attempt_id }) => attempt_id)
      const measured = new Map(ends.map(({ attempt_id, evidence }) => [attempt_id, evidence]))
      return attemptIds.map((attemptId) => {
        const found = changesOf(attemptId, measured.get(attemptId), changes.get(attemptId) ?? [])
        return isWhole ? found : { ...found, verification: 'unknown' as const }
      })
    },
  }
}

function changesOf(
  attemptId: AttemptId,
  evidence: string | undefined,
  rows: readonly { readonly body: string }[],
): AttemptChanges {
  return {
    attemptId,
    verification:
      evidence === undefined ? null : parsed<Pick<Evidence, 'verification'>>(evidence).verification,
    changes: rows.map(({ body }) => parsed<ReportedChange>(body)),
  }
}
