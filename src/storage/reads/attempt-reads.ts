import type { TaskReads } from '../../ports/reads/task-reads.ts'
import { attemptOf } from '../rows/attempt-row.ts'
import type { ReadScope } from './scope.ts'

type AttemptReads = Pick<TaskReads, 'attempt' | 'attempts' | 'openAttempt' | 'lastAttempt' | 'openAttempts'>

export function attemptReads({ db, projectId }: ReadScope): AttemptReads {
  const attempts = () => db.selectFrom('attempt').selectAll().where('project_id', '=', projectId)
  return {
    async attempt(id) {
      const row = await attempts().where('id', '=', id).executeTakeFirst()
      return row ? attemptOf(row) : null
    },
    async attempts(taskId) {
      const rows = await attempts().where('task_id', '=', taskId).orderBy('number').limit(100).execute()
      return rows.map(attemptOf)
    },
    async openAttempt(taskId) {
      const row = await attempts()
        .where('task_id', '=', taskId)
        .where('status', '=', 'open')
        .executeTakeFirst()
      return row ? attemptOf(row) : null
    },
    async lastAttempt(taskId) {
      const row = await attempts()
        .where('task_id', '=', taskId)
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? attemptOf(row) : null
    },
    async openAttempts(missionId) {
      const rows = await attempts()
        .where('status', '=', 'open')
        .$if(missionId !== undefined, (query) => query.where('mission_id', '=', missionId ?? null))
        .orderBy('seq')
        .limit(10_000)
        .execute()
      return rows.map(attemptOf)
    },
  }
}
