import { sql } from 'kysely'
import type { Outcome } from '../../domain/fact.ts'
import type { AttemptId, TaskId } from '../../domain/id.ts'
import { isHeld } from '../../domain/plan/plan.ts'
import type { Correction, Dependency, PastAttempt, TaskHistory } from '../../domain/track/task-history.ts'
import { attemptOf } from '../rows/attempt-row.ts'
import { holdOf } from '../rows/hold-row.ts'
import { parsed } from '../rows/json.ts'
import type { AttemptCorrectionTable } from '../schema/task-tables.ts'
import { plannedTasks } from './plan/planned-tasks.ts'
import type { ReadScope } from './scope.ts'

const mostFiles = 5

/** The attempts at a task that ended, newest first. */
export async function pastAttempts(
  scope: ReadScope,
  taskId: TaskId,
  limit: number,
): Promise<readonly PastAttempt[]> {
  const { db, projectId } = scope
  const rows = await db
    .selectFrom('attempt')
    .leftJoin('attempt_end as end', (join) =>
      join.onRef('end.project_id', '=', 'attempt.project_id').onRef('end.attempt_id', '=', 'attempt.id'),
    )
    .selectAll('attempt')
    .select('end.outcome')
    .where('attempt.project_id', '=', projectId)
    .where('attempt.task_id', '=', taskId)
    .where('attempt.status', '<>', 'open')
    .orderBy('attempt.number', 'desc')
    .limit(limit)
    .execute()
  const ids = rows.map(({ id }) => id)
  const files = await firstFiles(scope, ids)
  const said = await corrections(scope, [taskId])
  return rows.map((row) => ({
    attempt: attemptOf(row),
    outcome: row.outcome === null ? null : parsed<Outcome>(row.outcome),
    corrections: said.filter(({ attempt_id }) => attempt_id === row.id).map(correctionOf),
    files: files.get(row.id) ?? [],
  }))
}

/** What was said of an attempt after its end, first to last. */
export async function correctionsOf(
  { db, projectId }: ReadScope,
  attemptId: AttemptId,
): Promise<readonly Correction[]> {
  const rows = await db
    .selectFrom('attempt_correction')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .orderBy('seq')
    .limit(100)
    .execute()
  return rows.map(correctionOf)
}

/** What a task depends on, in the order in which it was said. */
export async function dependenciesOfTask(scope: ReadScope, taskId: TaskId): Promise<readonly Dependency[]> {
  const { db, projectId } = scope
  const rows = await db
    .selectFrom('task_dependency as edge')
    .innerJoin('task', (join) =>
      join.onRef('task.project_id', '=', 'edge.project_id').onRef('task.id', '=', 'edge.depends_on_id'),
    )
    .selectAll('task')
    .where('edge.project_id', '=', projectId)
    .where('edge.task_id', '=', taskId)
    .orderBy('edge.seq')
    .limit(100)
    .execute()
  const ids = rows.map(({ id }) => id)
  const ends = await lastEnds(scope, ids)
  const holds = await db
    .selectFrom('hold')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', 'in', some(ids))
    .where('status', '=', 'open')
    .orderBy('seq')
    .limit(100)
    .execute()
  const planned = await plannedTasks(scope, rows)
  return planned.map(({ task, unsettled }) => ({
    task,
    unsettled,
    summary: ends.get(task.id)?.summary ?? null,
    files: ends.get(task.id)?.files ?? [],
    holds: holds.filter(({ task_id }) => task_id === task.id).map(holdOf),
  }))
}

/** What lists say of tasks besides the tasks: some queries, whatever the number. */
export async function taskHistories(
  scope: ReadScope,
  taskIds: readonly TaskId[],
  now: number,
): Promise<ReadonlyMap<TaskId, TaskHistory>> {
  const { db, projectId } = scope
  const rows = await db
    .selectFrom('task')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', some(taskIds))
    .execute()
  const tried = await db
    .selectFrom('attempt')
    .select(['task_id', sql<number>`count(*)`.as('attempts')])
    .where('project_id', '=', projectId)
    .where('task_id', 'in', some(taskIds))
    .groupBy('task_id')
    .execute()
  const attempts = new Map(tried.map((row) => [row.task_id, row.attempts]))
  const ends = await lastEnds(scope, taskIds)
  const said = await corrections(scope, taskIds)
  const planned = await plannedTasks(scope, rows)
  return new Map(
    planned.map(({ task, dependsOn, unsettled, blocked, claim }) => [
      task.id,
      {
        dependsOn,
        unsettled,
        blocked,
        claim: isHeld(claim, now) ? claim : null,
        attempts: attempts.get(task.id) ?? 0,
        summary: ends.get(task.id)?.summary ?? null,
        correction: said.findLast(({ task_id }) => task_id === task.id)?.text ?? null,
        files: ends.get(task.id)?.files ?? [],
      },
    ]),
  )
}

interface End {
  readonly summary: string | null
  readonly files: readonly string[]
}

/** What the last attempt of each task that ended said, and its first files. */
async function lastEnds(scope: ReadScope, taskIds: readonly string[]): Promise<ReadonlyMap<string, End>> {
  const { db, projectId } = scope
  const rows = await db
    .selectFrom('attempt')
    .innerJoin('attempt_end as end', (join) =>
      join.onRef('end.project_id', '=', 'attempt.project_id').onRef('end.attempt_id', '=', 'attempt.id'),
    )
    .select(['attempt.id', 'attempt.task_id'])
    .select(sql<string | null>`json_extract(end.outcome, '$.summary')`.as('summary'))
    .where('attempt.project_id', '=', projectId)
    .where('attempt.task_id', 'in', some(taskIds))
    .where(
      sql<boolean>`not exists (select 1 from attempt as later
        join attempt_end as ended on ended.project_id = later.project_id and ended.attempt_id = later.id
        where later.project_id = attempt.project_id and later.task_id = attempt.task_id
          and later.number > attempt.number)`,
    )
    .execute()
  const files = await firstFiles(
    scope,
    rows.map(({ id }) => id),
  )
  return new Map(rows.map(({ id, task_id, summary }) => [task_id, { summary, files: files.get(id) ?? [] }]))
}

async function firstFiles(
  { db, projectId }: ReadScope,
  attemptIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('attempt_change')
    .select(['attempt_id', 'path'])
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', some(attemptIds))
    .where('position', '<', mostFiles)
    .orderBy('attempt_id')
    .orderBy('position')
    .execute()
  const found = new Map<string, string[]>()
  for (const { attempt_id, path } of rows) found.set(attempt_id, [...(found.get(attempt_id) ?? []), path])
  return found
}

async function corrections({ db, projectId }: ReadScope, taskIds: readonly string[]) {
  return db
    .selectFrom('attempt_correction')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', 'in', some(taskIds))
    .orderBy('seq')
    .limit(1000)
    .execute()
}

function correctionOf({ text, agent_name, said_by, created_at }: AttemptCorrectionTable): Correction {
  return { text, agentName: agent_name, saidBy: said_by, at: created_at }
}

function some(ids: readonly string[]): string[] {
  return ids.length > 0 ? [...ids] : [''] // no row has an empty id, and `in ()` is no portable SQL
}
