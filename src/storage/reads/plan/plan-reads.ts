import { sql } from 'kysely'
import type { TaskId } from '../../../domain/id.ts'
import type { PlanReads } from '../../../ports/reads/plan-reads.ts'
import type { ReadScope } from '../scope.ts'
import { dependencyChain } from './dependency-chain.ts'
import { nextTask } from './next-task.ts'
import { planGraph } from './plan-graph.ts'
import { planPage } from './plan-page.ts'
import { planPlaceReads } from './plan-places.ts'
import { plannedTasks } from './planned-tasks.ts'
import { notesOf, notesWithIds } from './task-notes.ts'

const most = 100

export function planReads(scope: ReadScope): PlanReads {
  const { db, projectId } = scope
  const tasks = () => db.selectFrom('task').selectAll().where('project_id', '=', projectId)
  return {
    ...planPlaceReads(scope),
    async task(id) {
      const [task] = await plannedTasks(scope, await tasks().where('id', '=', id).execute())
      return task ?? null
    },
    tasks: (filter, request) => planPage(scope, filter, request),
    next: (filter) => nextTask(scope, filter),
    async dependsOn(taskId, dependency) {
      const edge = await db
        .selectFrom('task_dependency')
        .select('seq')
        .where('project_id', '=', projectId)
        .where('task_id', '=', taskId)
        .where('depends_on_id', '=', dependency)
        .executeTakeFirst()
      return edge !== undefined
    },
    chain: (from, to) => dependencyChain(scope, from, to),
    async taskOfToken(token) {
      // An attempt without a claim before it is its own token.
      const attempt = await db
        .selectFrom('attempt')
        .select('task_id')
        .where('project_id', '=', projectId)
        .where('id', '=', token)
        .executeTakeFirst()
      if (attempt) return attempt.task_id as TaskId // a brand
      const claimed = await db
        .selectFrom('fact')
        .select(sql<TaskId>`json_extract(body, '$.taskId')`.as('task_id'))
        .where('project_id', '=', projectId)
        .where('kind', '=', 'task.claimed')
        .where(sql<boolean>`json_extract(body, '$.claim.token') = ${token}`)
        .limit(1)
        .executeTakeFirst()
      return claimed?.task_id ?? null
    },
    async expiredClaims(now) {
      const expired = tasks().where('claim_expires_at', '<=', now).orderBy('claim_expires_at').limit(most)
      return plannedTasks(scope, await expired.execute())
    },
    notes: (taskId, request) => notesOf(scope, taskId, request),
    notesWithIds: (ids) => notesWithIds(scope, ids),
    graph: (owner, limit, now) => planGraph(scope, owner, { limit, now }),
    async roles() {
      const rows = await db
        .selectFrom('role')
        .select('role')
        .where('project_id', '=', projectId)
        .orderBy('seq')
        .limit(1000)
        .execute()
      return rows.map(({ role }) => role)
    },
  }
}
