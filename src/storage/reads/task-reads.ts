import type { TaskId } from '../../domain/id.ts'
import type { TaskReads } from '../../ports/reads/task-reads.ts'
import { taskOf } from '../rows/task-row.ts'
import { attemptEnd, changesOf } from './attempt-end.ts'
import { attemptReads } from './attempt-reads.ts'
import { attemptsInTree, keptSnapshots, silentAttempts } from './attempts-over-time.ts'
import { idsLike } from './ids-like.ts'
import type { ReadScope } from './scope.ts'
import { ancestors, openSubtasks } from './task-family.ts'
import { correctionsOf, dependenciesOfTask, pastAttempts, taskHistories } from './task-history.ts'
import { listTasks } from './task-list.ts'

export function taskReads(scope: ReadScope): TaskReads {
  const { db, projectId } = scope
  const tasks = () => db.selectFrom('task').selectAll().where('project_id', '=', projectId)
  return {
    async find(id) {
      const row = await tasks().where('id', '=', id).executeTakeFirst()
      return row ? taskOf(row) : null
    },
    async named(ids) {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('task')
        .select(['id', 'name'])
        .where('project_id', '=', projectId)
        .where('id', 'in', ids.slice(0, 200))
        .execute()
      return new Map(rows.map(({ id, name }) => [id as TaskId, name])) // a brand
    },
    ...attemptReads(scope),
    end: (attemptId) => attemptEnd(scope, attemptId),
    changes: (attemptId, request) => changesOf(scope, attemptId, request),
    past: (taskId, limit) => pastAttempts(scope, taskId, limit),
    corrections: (attemptId) => correctionsOf(scope, attemptId),
    dependencies: (taskId) => dependenciesOfTask(scope, taskId),
    histories: (ids, now) => taskHistories(scope, ids, now),
    openSubtasks: (taskId) => openSubtasks(scope, taskId),
    silentAttempts: (lastCall) => silentAttempts(scope, lastCall),
    attemptsInTree: (top, since) => attemptsInTree(scope, top, since),
    ancestors: (taskId) => ancestors(scope, taskId),
    list: (filter, request) => listTasks(scope, filter, request),
    async planned(missionId) {
      const rows = await tasks()
        .where('mission_id', '=', missionId)
        .where('standing', 'in', ['ready', 'blocked', 'in_progress'])
        .orderBy('seq')
        .limit(100)
        .execute()
      return rows.map(taskOf)
    },
    keptSnapshots: (since) => keptSnapshots(scope, since),
    idsLike: (prefix, limit) => idsLike(scope, 'task', { prefix, limit }),
  }
}
