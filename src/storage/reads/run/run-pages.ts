import type { RunReads } from '../../../ports/reads/run-reads.ts'
import { runEventOf } from '../../rows/run-event-row.ts'
import { refusalOf } from '../../rows/run-evidence-rows.ts'
import { runOf } from '../../rows/run-row.ts'
import type { ReadScope } from '../scope.ts'

/** The lists of runs and of what happened to one, newest first, a page at a time. */
export function runPages({ db, projectId }: ReadScope): Pick<RunReads, 'list' | 'history' | 'refusals'> {
  return {
    async list({ status, missionId, taskId, processId }, { limit, before }) {
      const matching = db
        .selectFrom('run')
        .where('project_id', '=', projectId)
        .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
        .$if(missionId !== undefined, (query) => query.where('mission_id', '=', missionId ?? ''))
        .$if(taskId !== undefined, (query) => query.where('task_id', '=', taskId ?? ''))
        .$if(processId !== undefined, (query) => query.where('process_id', '=', processId ?? ''))
      const rows = await matching
        .selectAll()
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      const { total } = await matching
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { items: rows.map((row) => ({ seq: row.seq, item: runOf(row) })), total }
    },
    async history(runId, { limit, before }) {
      const matching = db
        .selectFrom('run_event')
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
      const rows = await matching
        .selectAll()
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('revision', 'desc')
        .limit(limit)
        .execute()
      const { total } = await matching
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { items: rows.map((row) => ({ seq: row.seq, item: runEventOf(row) })), total }
    },
    async refusals(runId, { limit, before }) {
      const matching = db
        .selectFrom('run_refusal')
        .where('project_id', '=', projectId)
        .where('run_id', '=', runId)
      const rows = await matching
        .selectAll()
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      const { total } = await matching
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { items: rows.map((row) => ({ seq: row.seq, item: refusalOf(row) })), total }
    },
  }
}
